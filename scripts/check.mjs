// Every check of the project.
//
//   npm test                      the static checks and the quick tests: what to run before every commit
//   npm run test:all              the static checks, all tests, and the attacks in every way (attack-ways.mjs); with
//                                 `-- --record` the durations of the tests are recorded
//   npm run test:rest             the tests of the full tier that `npm test` leaves out
//   npm run test:attacks          the attacks in every other way; CI runs these three, and so does all of the above
//   npm test -- lint types        only the checks that are named
//
// The last line is always `N passed, N failed, N skipped`: each check counts as one, each test as one.

import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { attackWays } from './attack-ways.mjs';

const root = path.resolve(import.meta.dirname, '..');
const tool = (file) => [process.execPath, path.join(root, 'node_modules', file)];

/** By the tags of test/tiers.ts. */
const tagsFilter = { quick: '!full || smoke', rest: 'full && (!smoke || first)', all: null, attacks: null };

const staticChecks = {
  types: () => command([...tool('typescript/bin/tsc'), '--project', root]),
  lint: () =>
    command([...tool('@biomejs/biome/bin/biome'), 'check', '--formatter-enabled=false', '--error-on-warnings', '.']),
  unused: () => command([...tool('knip/bin/knip.js'), '--no-progress']),
  page: () => command([...tool('typescript/bin/tsc'), '--project', path.join(root, 'dashboard')]),
  format: () => command([...tool('@biomejs/biome/bin/biome'), 'format', '.']),
};
const checks = {
  ...staticChecks,
  static: null,
  modules: () => tests('all', ['test/architecture']),
  quick: () => tests('quick', []),
  rest: () => tests('rest', []),
  all: () => tests('all', []),
  attacks,
};

const given = process.argv.slice(2);
const isRecording = given.includes('--record');
const wanted = given.filter((name) => name !== '--record');
const unknown = wanted.filter((name) => !(name in checks));
if (unknown.length > 0) {
  console.error(`no check named ${unknown.join(', ')}; there are: ${Object.keys(checks).join(', ')}`);
  process.exit(2);
}

const total = { passed: 0, failed: 0, skipped: 0 };
const names = (wanted.length > 0 ? wanted : ['static', 'quick']).flatMap((name) =>
  name === 'static' ? Object.keys(staticChecks) : [name],
);
// The static checks share the cores; tests have them for themselves.
await Promise.all(names.filter((name) => name in staticChecks).map(run));
for (const name of names) if (!(name in staticChecks)) await run(name);
console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exitCode = total.failed === 0 ? 0 : 1;

async function run(name) {
  const started = performance.now();
  const result = await checks[name]();
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`${result.failed === 0 ? 'ok    ' : 'FAILED'} ${name} (${seconds} s)`);
  for (const key of Object.keys(total)) total[key] += result[key];
}

/** Runs one tool; its output is shown only when it fails. */
async function command([file, ...rest]) {
  const { code, output } = await runProgram(file, rest, { stdio: ['ignore', 'pipe', 'pipe'] });
  if (code === 0) return { passed: 1, failed: 0, skipped: 0 };
  process.stdout.write(output);
  return { passed: 0, failed: 1, skipped: 0 };
}

/** The attacks that differ by way, once more in each that this machine can go; the others count as skipped, with the reason. */
async function attacks() {
  const sum = { passed: 0, failed: 0, skipped: 0 };
  for (const { name, reason, prepare } of attackWays) {
    if (reason !== null) console.log(`       attacks ${name}: ${reason}`);
    const result = reason === null ? await tests('attacks', ['test/security'], prepare) : { skipped: 1 };
    if (reason === null) console.log(`${result.failed === 0 ? 'ok    ' : 'FAILED'} attacks ${name}`);
    for (const key of Object.keys(sum)) sum[key] += result[key] ?? 0;
  }
  return sum;
}

async function tests(tier, filters, prepare = here) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'baton-check-'));
  const [, vitest] = tool('vitest/vitest.mjs');
  const reporters = ['--reporter=default', `--reporter=${path.join(root, 'test', 'summary-reporter.ts')}`];
  const wantedTags = tagsFilter[tier] === null ? [] : ['--tags-filter', tagsFilter[tier]];
  const request = { root, args: [vitest, 'run', ...filters, ...wantedTags, ...reporters] };
  const { file, args, env, counts } = prepare(folder, request);
  const own = { BATON_TEST_TIER: tier, BATON_TEST_COUNTS: counts, ...(isRecording ? { BATON_TEST_RECORD: '1' } : {}) };
  const stdio = ['ignore', 'inherit', 'inherit'];
  const { code } = await runProgram(file, args, { stdio, env: { ...env, ...own } });
  try {
    const { passed, failed, skipped } = JSON.parse(fs.readFileSync(counts, 'utf8'));
    // A file that does not load, or an unhandled rejection, fails the run without failing a test.
    return { passed, failed: code === 0 ? failed : Math.max(failed, 1), skipped };
  } catch (error) {
    console.error(`the tests left no counts: ${error.message}`);
    return { passed: 0, failed: 1, skipped: 0 };
  } finally {
    for (const each of [folder, counts]) fs.rmSync(each, { recursive: true, force: true });
  }
}

/** As the user who started it, in the repository. */
function here(folder, { args }) {
  return { file: process.execPath, args, env: process.env, counts: path.join(folder, 'counts.json') };
}

function runProgram(file, rest, options) {
  return new Promise((resolve) => {
    const child = spawn(file, rest, { cwd: root, ...options });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text) => {
        output += text;
      });
    }
    child.once('error', (error) => resolve({ code: 1, output: `${output}${error.message}\n` }));
    child.once('close', (code) => resolve({ code, output }));
  });
}
