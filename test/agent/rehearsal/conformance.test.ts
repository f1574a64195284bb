import { createRehearsalAgent } from '../../../src/agent/rehearsal/rehearsal-agent.ts';
import { builtProgram } from '../../built-baton.ts';
import { agentConformance } from '../../conformance/agent.ts';

const program = builtProgram('agent/rehearsal/program');
const script = (...lines: string[]): string =>
  ['Ticket text.', '```rehearsal', ...lines, '```', 'More text.'].join('\n');
// The steps of a script start programs without a shell; a script that needs one writes it into a file first.
const shell = (text: string): string[] => ['write run.sh', `| ${text}`, 'run sh run.sh'];

agentConformance({
  name: 'rehearsal',
  remembersThreads: true,
  create: (parts, { turnTimeoutMs, home }) =>
    createRehearsalAgent(
      { nodePath: process.execPath, program, readTimeoutMs: 30_000, turnTimeoutMs },
      { ...parts, accountEnv: { ...parts.accountEnv, BATON_REHEARSAL_HOME: home } },
    ),
  prompts: {
    makeFile: script('say working', 'write done.txt', '| made'),
    fail: script('say trying', 'fail out of luck'),
    fallSilent: script('say last words', 'wait 600000'),
    leaveOrphan: script(...shell('setsid sleep 300 > /dev/null 2>&1 &'), 'say gone'),
    die: script('say ouch', ...shell('kill -9 $PPID')),
    longLine: script(`say ${'x'.repeat(2_000_000)}\u001b[31m`),
    showEnvironment: script(...shell('env > env.txt')),
    ask: script('ask Which colour?', '| red', '| blue'),
    inputRequired: 'A ticket without a script.',
    useTool: script('comment hello'),
    useUnknownTool: script('move Done'),
  },
});
