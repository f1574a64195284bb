// @module-tag full
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { copyParts, lendPackages, makeFolder, removeFolder, writeFiles } from './project-copy.ts';
import { type Ended, runProgram } from './run-program.ts';

const lastLine = /(?:^|\n)(\d+) passed, (\d+) failed, (\d+) skipped\n$/;
const configuration = [
  ...['package.json', 'biome.json', 'tsconfig.json', 'vitest.config.ts', '.gitignore', 'scripts'],
  ...[
    'by-duration.ts',
    'durations.json',
    'property-runs.ts',
    'summary-reporter.ts',
    'small-workers.ts',
    'temporary-folder.ts',
    'tiers.ts',
  ].map((name) => `test/${name}`),
];
const folders: string[] = [];
afterAll(() => folders.forEach(removeFolder));

describe('scripts/check.mjs', () => {
  const good = tree({
    'src/core/good.ts': 'export const good = 1;\n',
    'test/good.test.ts': testFile("it('adds', () => expect(1 + 1).toBe(2));"),
  });
  const bad = tree({
    'src/core/bad.ts': 'export let bad: any = 1;\n',
    'test/bad.test.ts': testFile(`
      it('passes', () => expect(1).toBe(1));
      it('fails', () => expect(1).toBe(2));
      it.skip('is skipped', () => {});
      it.todo('is to come');
    `),
  });
  const unloadable = tree({ 'test/bad.test.ts': "throw new Error('does not load');\n" });

  it('counts a passing check and exits with 0', async () => {
    expect(summary(await check(good, 'lint'))).toEqual({ code: 0, counts: [1, 0, 0] });
  });

  it('counts a failing check, shows its output and exits with 1', async () => {
    const ended = await check(bad, 'lint');
    expect(summary(ended)).toEqual({ code: 1, counts: [0, 1, 0] });
    expect(ended.stdout).toContain('noExplicitAny');
  });

  // @conforms toolchain.9
  it('counts each test as passed, failed, skipped or to do', async () => {
    expect(summary(await check(good, 'quick'))).toEqual({ code: 0, counts: [1, 0, 0] });
    expect(summary(await check(bad, 'quick'))).toEqual({ code: 1, counts: [1, 1, 2] });
  });

  it('fails when a test file does not load', async () => {
    expect(summary(await check(unloadable, 'quick'))).toEqual({ code: 1, counts: [0, 1, 0] });
  });

  it('fails when there is nothing to test', async () => {
    expect(summary(await check(unloadable, 'modules'))).toEqual({ code: 1, counts: [0, 1, 0] });
  });

  it('lists the checks when asked for an unknown one', async () => {
    expect(await check(good, 'nonsense')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/\bnonsense\b.*\blint\b/),
    });
  });
});

describe('the lint', () => {
  // By file: the rule that finds it, and the text.
  const timeAndChance: Seeds = {
    'date-now': ['plugin', 'export const found = Date.now();\n'],
    'new-date': ['plugin', 'export const found = new Date();\n'],
    'math-random': ['plugin', 'export const found = Math.random();\n'],
    'performance-now': ['plugin', 'export const found = performance.now();\n'],
    'abort-timeout': ['plugin', 'export const found = AbortSignal.timeout(1);\n'],
    'set-timeout': ['lint/style/noRestrictedGlobals', 'setTimeout(() => {}, 1);\n'],
    'set-interval': ['lint/style/noRestrictedGlobals', 'setInterval(() => {}, 1);\n'],
    'timers-promises': [
      'lint/style/noRestrictedImports',
      "import { setTimeout as sleep } from 'node:timers/promises';\n\nexport const found = sleep;\n",
    ],
  };
  const spawning: Seeds = {
    'child-process': [
      'lint/style/noRestrictedImports',
      "import { spawn } from 'node:child_process';\n\nexport const found = spawn;\n",
    ],
  };

  // @conforms toolchain.10
  it('reports time, randomness and spawning outside their modules', async () => {
    const seeds = { ...timeAndChance, ...spawning };
    const ended = await check(tree(planted('src/orchestrator', seeds)), 'lint');
    expect(ended.code).toBe(1);
    expect(unfound(ended, 'src/orchestrator', seeds)).toEqual([]);
  });

  it('allows time and randomness in src/clock, and spawning in src/process', async () => {
    const folder = tree({ ...planted('src/clock', timeAndChance), ...planted('src/process', spawning) });
    expect(summary(await check(folder, 'lint'))).toEqual({ code: 0, counts: [1, 0, 0] });
  });

  it('reports time and randomness in src/process too', async () => {
    const ended = await check(tree(planted('src/process', timeAndChance)), 'lint');
    expect(unfound(ended, 'src/process', timeAndChance)).toEqual([]);
  });
});

type Seeds = Readonly<Record<string, readonly [rule: string, text: string]>>;

function planted(room: string, seeds: Seeds): Record<string, string> {
  return Object.fromEntries(Object.entries(seeds).map(([name, [, text]]) => [`${room}/${name}.ts`, text]));
}

/** The seeds that the lint did not report under their rule. */
function unfound({ stdout }: Ended, room: string, seeds: Seeds): string[] {
  return Object.keys(seeds).filter((name) => {
    const rule = seeds[name]?.[0];
    return !stdout.split('\n').some((line) => line.startsWith(`${room}/${name}.ts:`) && line.includes(` ${rule} `));
  });
}

/** A small tree with the project's own configuration, so that a check takes a moment and not the state of the whole. */
function tree(files: Readonly<Record<string, string>>): string {
  const folder = makeFolder();
  folders.push(folder);
  copyParts(folder, configuration);
  lendPackages(folder);
  writeFiles(folder, files);
  return folder;
}

function check(folder: string, name: string): Promise<Ended> {
  return runProgram(process.execPath, [path.join(folder, 'scripts/check.mjs'), name], { cwd: folder });
}

function summary({ code, stdout }: Ended) {
  const [, ...counts] = lastLine.exec(stdout) ?? [];
  return { code, counts: counts.map(Number) };
}

function testFile(body: string): string {
  return `import { expect, it } from 'vitest';\n\n${body}\nexpect(it).toBeDefined();\n`;
}
