import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { systemChance } from '../src/clock/system-chance.ts';
import { planIsolation } from '../src/process/isolation/plan-isolation.ts';
import { homePaths, homeSecrets } from '../src/process/isolation/usual-paths.ts';
import { runToEnd } from '../src/process/run-to-end.ts';
import { processDeps } from './bench-daemon.ts';
import { percentile } from './measure.ts';
import { type Figure, ratioOf } from './report.ts';
import { Scratch } from './scratch.ts';

const rounds = 150;

/** The share of fast starts that is compared: slower ones tell of other programs on the machine. */
const fast = 0.1;

/** Files in each folder of the home. */
const filesEach = 100;

/**
 * What isolation adds to the start of a program, against the same program in its containment alone, in turns. With a home that
 * has every tool chain, package cache and place of secrets that isolation knows, so no home has more mounts.
 */
export async function benchIsolation(): Promise<readonly Figure[]> {
  const deps = await processDeps();
  if (deps.containment !== 'user_pid_namespace') {
    console.error('isolation: skipped. This machine has no pid namespaces.');
    return [];
  }
  using scratch = new Scratch();
  const [workspace, state] = ['workspaces/own', 'state'].map((each) => path.join(scratch.folder, each));
  if (workspace === undefined || state === undefined) return [];
  for (const folder of [workspace, state]) mkdirSync(folder, { recursive: true });
  const home = path.join(scratch.folder, 'home');
  const count = fillHome(home);
  const isolation = planIsolation(
    {
      homes: [home],
      stateFolders: [state],
      workspaceRoot: path.dirname(workspace),
      reads: [],
      searchPath: process.env.PATH,
      gitConfiguration: '[user]\n\tname = Bench\n',
      readSetting: [],
      writeSetting: [],
      hasLayers: true,
    },
    { workspace, reads: [], writes: [] },
  );
  const env = { PATH: process.env.PATH ?? '', HOME: home };
  const run = async (more: { isolation: typeof isolation | null }): Promise<number> => {
    const program = {
      command: '/bin/true',
      args: [],
      cwd: workspace,
      env,
      runId: systemChance.id(),
      timeoutMs: 60_000,
    };
    const began = performance.now();
    const { code, stderr } = await runToEnd({ ...program, ...more }, deps);
    if (code !== 0) throw new Error(`the program failed: ${stderr}`);
    return performance.now() - began;
  };
  const [isolated, contained]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    contained.push(await run({ isolation: null }));
    isolated.push(await run({ isolation }));
  }
  const [with_, without] = [percentile(isolated, fast), percentile(contained, fast)];
  return [
    {
      what: `a program that does nothing, isolated, with a home of ${count} files, from its start to its end, fastest tenth of ${rounds}`,
      seen: `${with_.toFixed(1)} ms, ${(with_ - without).toFixed(1)} ms more than contained`,
      aim: '10 ms more',
      ratio: ratioOf(with_, without, `the same in its containment alone (${without.toFixed(1)} ms)`),
    },
  ];
}

/** Makes every path that isolation knows of a home; returns the number of files. */
function fillHome(home: string): number {
  const folders = [...homePaths.filter(({ access }) => access !== 'hidden').map((each) => each.path), ...homeSecrets];
  let count = 0;
  for (const folder of folders.map((each) => path.join(home, each))) {
    mkdirSync(folder, { recursive: true });
    for (let at = 0; at < filesEach; at++) writeFileSync(path.join(folder, `file-${at}`), 'x');
    count += filesEach;
  }
  return count;
}
