import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { systemChance } from '../src/clock/system-chance.ts';
import { planIsolation } from '../src/process/isolation/plan-isolation.ts';
import { homePaths, homeSecrets } from '../src/process/isolation/usual-paths.ts';
import { runToEnd } from '../src/process/run-to-end.ts';
import { processDeps } from './bench-daemon.ts';
import { percentile } from './measure.ts';
import { type Figure, ratioOf } from './report.ts';
import { Scratch } from './scratch.ts';

const rounds = 100;

/** The share of fast starts that is compared: slower ones tell of other programs on the machine. */
const fast = 0.1;

/** Files in each folder of a home. */
const filesEach = 300;

/** The tool chains and caches of someone who works with Node, Rust, Go, Python and Java. */
const toolChains: readonly string[] = [
  ...[
    'bin',
    '.local/bin',
    '.local/lib',
    '.nvm',
    '.npm',
    '.cache/node',
    '.cache/ms-playwright',
    '.cargo',
    '.rustup',
    'go',
  ],
  ...['.cache/go-build', '.pyenv', '.cache/pip', '.cache/uv', '.m2', '.gradle'],
];

/** Every path of a home that isolation knows: no home has more mounts. */
const everything: readonly string[] = homePaths.filter(({ access }) => access !== 'hidden').map((each) => each.path);

/**
 * What isolation adds to the start of a program, against the same program in its containment alone, in turns. The processor time
 * counts all processes of a start, and says the same on a busy machine.
 */
export async function benchIsolation(): Promise<readonly Figure[]> {
  const deps = await processDeps();
  if (deps.containment !== 'user_pid_namespace') {
    console.error('isolation: skipped. This machine has no pid namespaces.');
    return [];
  }
  return [await measure('tool chains', toolChains, '10 ms more'), await measure('everything', everything)];

  async function measure(name: string, paths: readonly string[], aim: string | null = null): Promise<Figure> {
    using scratch = new Scratch();
    const at = (each: string): string => path.join(scratch.folder, each);
    const workspace = at('workspaces/own');
    for (const folder of [workspace, at('state')]) mkdirSync(folder, { recursive: true });
    const count = fill([...paths, ...homeSecrets].map((each) => path.join(at('home'), each)));
    const isolation = planIsolation(
      {
        homes: [at('home')],
        stateFolders: [at('state')],
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
    const env = { PATH: process.env.PATH ?? '', HOME: at('home') };
    const run = async (more: { isolation: typeof isolation | null }): Promise<Cost> => {
      const program = { command: '/bin/true', args: [], cwd: workspace, env, timeoutMs: 60_000 };
      const [began, used] = [performance.now(), processorMs()];
      const { code, stderr } = await runToEnd({ ...program, runId: systemChance.id(), ...more }, deps);
      if (code !== 0) throw new Error(`the program failed: ${stderr}`);
      return { ms: performance.now() - began, processorMs: processorMs() - used };
    };
    const [isolated, contained]: [Cost[], Cost[]] = [[], []];
    for (let round = 0; round < rounds; round++) {
      contained.push(await run({ isolation: null }));
      isolated.push(await run({ isolation }));
    }
    const times = [isolated, contained].map((costs) =>
      percentile(
        costs.map(({ ms }) => ms),
        fast,
      ),
    );
    const [with_ = 0, without = 0] = times;
    const [used = 0, usedWithout = 0] = [isolated, contained].map(
      (costs) => costs.reduce((sum, each) => sum + each.processorMs, 0) / costs.length,
    );
    return {
      what: `a program that does nothing, isolated, with a home of ${count} files (${name}), from its start to its end, fastest tenth of ${rounds}`,
      seen: `${with_.toFixed(1)} ms, ${(with_ - without).toFixed(1)} ms more than contained; ${(used - usedWithout).toFixed(1)} ms more processor time`,
      aim,
      ratio: ratioOf(with_, without, `the same in its containment alone (${without.toFixed(1)} ms)`),
    };
  }
}

interface Cost {
  readonly ms: number;
  readonly processorMs: number;
}

const tickMs = 10;

/** Of this process and of all children that have ended; in steps of a tick, which an average evens out. */
function processorMs(): number {
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]?.split(' ') ?? [];
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) * tickMs;
}

/** Makes these folders, with files in them; returns the number of files. */
function fill(folders: readonly string[]): number {
  for (const folder of folders) {
    mkdirSync(folder, { recursive: true });
    for (let at = 0; at < filesEach; at++) writeFileSync(path.join(folder, `file-${at}`), 'x');
  }
  return folders.length * filesEach;
}
