import { systemChance } from '../../src/clock/system-chance.ts';
import { systemClock } from '../../src/clock/system-clock.ts';
import { planIsolation } from '../../src/process/isolation/plan-isolation.ts';
import { runToEnd } from '../../src/process/run-to-end.ts';

// Runs a script in isolation as the user of this process, as a daemon of that user does. Prints the result as JSON.
const { base, script, read, write, isReadOnly = false } = JSON.parse(process.argv[2] ?? '{}');
const at = (name: string): string => `${base}/${name}`;
const workspace = at('workspaces/own');
const isolation = planIsolation(
  {
    homes: [at('home')],
    stateFolders: [at('state')],
    workspaceRoot: at('workspaces'),
    reads: [at('repo'), at('WORKFLOW.md')],
    searchPath: process.env.PATH,
    gitConfiguration: '[user]\n\tname = Isolated\n',
    readSetting: read ?? [],
    writeSetting: write ?? [],
    hasLayers: true,
  },
  isReadOnly
    ? { workspace, isReadOnly, writes: [], reads: [at('state/git/own'), at('state/git/caches')] }
    : { workspace, writes: [at('state/git/own')], reads: [at('state/git/caches')] },
);
const { code, stdout, stderr, survivorsEnded } = await runToEnd(
  {
    command: '/bin/sh',
    args: ['-c', script, 'sh', base],
    cwd: workspace,
    env: { PATH: process.env.PATH ?? '/usr/bin:/bin', HOME: at('home') },
    runId: systemChance.id(),
    timeoutMs: 60_000,
    isolation,
  },
  { clock: systemClock, containment: 'user_pid_namespace', daemonId: systemChance.id() },
);
process.stdout.write(JSON.stringify({ code, stdout, stderr, survivorsEnded }));
