// Every check of the house. `npm test` runs all of them; `npm test -- lint types` (or `npm run lint`) only those named.
// The last line is always `N passed, N failed, N skipped`: each check counts as one, each test as one.

import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '..');
const tool = (file) => [process.execPath, path.join(root, 'node_modules', file)];

const checks = {
  format: () => command([...tool('@biomejs/biome/bin/biome'), 'format', '.']),
  lint: () =>
    command([...tool('@biomejs/biome/bin/biome'), 'check', '--formatter-enabled=false', '--error-on-warnings', '.']),
  types: () => command([...tool('typescript/bin/tsc'), '--project', root]),
  page: () => command([...tool('typescript/bin/tsc'), '--project', path.join(root, 'dashboard')]),
  unused: () => command([...tool('knip/bin/knip.js'), '--no-progress']),
  rooms: () => tests(['test/architecture']),
  unit: () => tests([]),
};
// `unit` includes the room rules; `rooms` alone is for looking at them.
const inOrder = ['format', 'lint', 'types', 'page', 'unused', 'unit'];

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !(name in checks));
if (unknown.length > 0) {
  console.error(`no check named ${unknown.join(', ')}; there are: ${Object.keys(checks).join(', ')}`);
  process.exit(2);
}

const total = { passed: 0, failed: 0, skipped: 0 };
for (const name of wanted.length > 0 ? wanted : inOrder) {
  const started = performance.now();
  const result = checks[name]();
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`${result.failed === 0 ? 'ok    ' : 'FAILED'} ${name} (${seconds} s)`);
  for (const key of Object.keys(total)) total[key] += result[key];
}
console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exitCode = total.failed === 0 ? 0 : 1;

/** Runs one tool; its output is shown only when it fails. */
function command([file, ...args]) {
  const done = spawnSync(file, args, { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  if (done.status === 0) return { passed: 1, failed: 0, skipped: 0 };
  process.stdout.write(`${done.stdout ?? ''}${done.stderr ?? ''}${done.error ? `${done.error.message}\n` : ''}`);
  return { passed: 0, failed: 1, skipped: 0 };
}

function tests(filters) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'baton-check-'));
  const report = path.join(folder, 'report.json');
  const [file, ...front] = tool('vitest/vitest.mjs');
  const args = [...front, 'run', ...filters, '--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const done = spawnSync(file, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] });
  try {
    const { numPassedTests, numFailedTests, numPendingTests, numTodoTests } = JSON.parse(
      fs.readFileSync(report, 'utf8'),
    );
    // A file that does not load, or a rejection without an owner, fails the run without failing a test.
    const failed = done.status === 0 ? numFailedTests : Math.max(numFailedTests, 1);
    return { passed: numPassedTests, failed, skipped: numPendingTests + numTodoTests };
  } catch (error) {
    console.error(`the tests left no report: ${error.message}`);
    return { passed: 0, failed: 1, skipped: 0 };
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}
