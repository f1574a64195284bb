import { createCommandAgent } from '../../src/agent/command/command-agent.ts';
import { agentConformance } from '../conformance/agent.ts';

// The program is a shell, so the prompt is the script that it runs.
agentConformance({
  name: 'command',
  remembersThreads: false,
  create: (parts, { turnTimeoutMs }) => createCommandAgent({ command: 'exec sh', turnTimeoutMs }, parts),
  prompts: {
    makeFile: 'echo working; echo made > done.txt',
    fail: 'echo trying; exit 3',
    fallSilent: 'echo last words; while :; do sleep 60; done',
    leaveOrphan: 'setsid sleep 300 > /dev/null 2>&1 & echo gone',
    die: 'echo ouch; kill -9 $$',
    longLine: 'head -c 2000000 /dev/zero | tr "\\0" x; printf "\\033[31m"; echo',
    showEnvironment: 'env > env.txt',
    ask: null,
    inputRequired: `echo '{"type":"question","question":"Which colour?"}' >> "$BATON_REPORT_FILE"`,
    useTool: null,
    useUnknownTool: null,
  },
});
