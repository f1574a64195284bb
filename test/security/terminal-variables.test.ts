import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { openAcp, turn } from '../agent/acp/acp-scene.ts';
import { scratchFolder } from '../agent/scripted-scene.ts';
import type { Step } from '../fake/acp/scenario.ts';
import { describeWithEachContainment } from '../process/real-children.ts';

/** Programs that make the namespaces, and so run outside of them. */
const planted = ['setpriv', 'unshare', 'mount', 'mkdir', 'bash', 'sh'];

function workspaceWithPrograms(): string {
  const workspace = scratchFolder();
  mkdirSync(path.join(workspace, 'bin'));
  for (const name of planted) {
    const file = path.join(workspace, 'bin', name);
    writeFileSync(file, `#!/bin/sh\necho ${name} >> '${workspace}/was-run'\n`);
    chmodSync(file, 0o755);
  }
  return workspace;
}

describeWithEachContainment('the variables that an agent chooses for a terminal', (containment) => {
  it('reach its command, and no program around it', async () => {
    const workspace = workspaceWithPrograms();
    const chosen = 'chosen by the agent';
    const variables = {
      PATH: `${path.join(workspace, 'bin')}:${process.env.PATH}`,
      CHOSEN: chosen,
      BATON_RUN_ID: chosen,
      UID: '7',
      'not-a-name': 'x',
    };
    const env = Object.entries(variables).map(([name, value]) => ({ name, value }));
    const run = (command: string): readonly Step[] => [
      { ask: 'terminal/create', params: { command, env } },
      { ask: 'terminal/wait_for_exit', params: { terminalId: '$terminal' } },
      { ask: 'terminal/output', params: { terminalId: '$terminal' } },
    ];
    const { session, fake, runId } = await openAcp(
      turn(
        ...run('echo "$PATH|$CHOSEN|$BATON_RUN_ID"'),
        ...run(`tr '\\0' '\\n' < /proc/$PPID/environ | grep -c ^CHOSEN=`),
        ...run('unshare'),
      ),
      { request: { workspace }, parts: { containment } },
    );
    await session.runTurn('go');
    const outputs = fake.answers().flatMap(({ result }) => ('output' in (result ?? {}) ? [result?.output] : []));
    expect(outputs).toEqual([`${variables.PATH}|${chosen}|${runId}\n`, '0\n', '']);
    // The command itself finds the programs of the agent.
    expect(readFileSync(path.join(workspace, 'was-run'), 'utf8')).toBe('unshare\n');
  });
});
