import { readdirSync } from 'node:fs';
import { expect, it } from 'vitest';
import { createCommandAgent } from '../../src/agent/command/command-agent.ts';
import { isolationIn } from '../process/isolation/isolation-in.ts';
import { hasNamespaces } from '../security/machine.ts';
import { scratchFolder, usualParts, usualRequest } from './scripted-scene.ts';

it.skipIf(!hasNamespaces)(
  'a read-only command changes neither its workspace nor its git directory, and reports',
  async () => {
    const [workspace, gitDirectory] = [scratchFolder(), scratchFolder()];
    const parts = usualParts({ containment: 'user_pid_namespace', isolate: isolationIn('/nowhere') });
    const agent = createCommandAgent({ command: 'exec sh', turnTimeoutMs: 60_000 }, parts);
    const request = usualRequest({ workspace, writableRoots: [gitDirectory], isReadOnly: true });
    const session = await agent.startSession(request);
    const report = `'{"type":"outcome","status":"succeeded","message":"'$BATON_READ_ONLY'"}'`;
    const script = `echo x > file; echo x > '${gitDirectory}/file'; ls '${gitDirectory}' && echo ${report} >> "$BATON_REPORT_FILE"`;
    expect(await session.runTurn(script)).toEqual({ status: 'completed', message: '1' });
    await session.stop();
    expect([readdirSync(workspace), readdirSync(gitDirectory)]).toEqual([[], []]);
  },
);
