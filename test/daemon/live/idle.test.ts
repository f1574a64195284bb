// @module-tag full
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { jobNames } from '../../../src/core/cadence/job-catalogue.ts';
import { scratchFolder } from '../../workspace/scratch-folder.ts';

const root = path.resolve(import.meta.dirname, '..', '..', '..');
const ticks = 3;

interface Idle {
  /** The text of each statement that reads or writes rows. */
  readonly statements: readonly string[];
  readonly processes: number;
  /** Files that were opened to read, without those of the workflow. */
  readonly files: readonly string[];
  readonly timers: number;
}

it('an idle daemon has a handful of timers, starts nothing and reads no rows that nothing changed', async () => {
  const folder = scratchFolder();
  const report = path.join(folder, 'report.json');
  const settings = {
    tracker: { kind: 'board' },
    // No poll in this time: the ticks in between have no reason to ask.
    polling: { interval_ms: 600_000 },
    workspace: { root: 'workspaces', min_free_disk_mb: 0 },
    agent: { backend: 'command', command: 'true', min_free_memory_mb: 0 },
  };
  writeFileSync(path.join(folder, 'WORKFLOW.md'), `---\n${JSON.stringify(settings)}\n---\nWork.\n`);
  const spy = path.join(folder, 'spy.mjs');
  writeFileSync(spy, spyText(report, path.join(folder, 'state', 'health.json')));
  const args = ['start', 'WORKFLOW.md', '--json', '--state-dir', path.join(folder, 'state')];
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', '--import', spy, path.join(root, 'src/cli/main.ts'), ...args],
    { cwd: folder, stdio: 'ignore' },
  );
  const ended = once(child, 'exit');
  await expect.poll(() => existsSync(report), { timeout: 60_000, interval: 100 }).toBe(true);
  child.kill('SIGTERM');
  await ended;
  const idle = JSON.parse(readFileSync(report, 'utf8')) as Idle;
  expect(idle.processes).toBe(0);
  expect(idle.files).toEqual([]);
  // Jobs note when they ran. Twice a minute, in one transaction, the daemon compares its claims with those of the store.
  const compared = /^(?:begin immediate|commit|select .* from "(?:claims|retries|held|runs)" )/;
  const others = idle.statements.filter((text) => !/^(?:pragma data_version|insert into "job_timers")/.test(text));
  expect(others.filter((text) => !compared.test(text))).toEqual([]);
  expect(others.filter((text) => text === 'commit').length).toBeLessThanOrEqual(1);
  // One for each job, one for the ticks, and one more.
  expect(idle.timers).toBeLessThanOrEqual(jobNames.length + 2);
}, 90_000);

/** Counts between two ticks that are this many apart, from the third on: until then the daemon finishes its start. */
function spyText(report: string, health: string): string {
  return `import child from 'node:child_process';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { StatementSync } from 'node:sqlite';
const seen = { statements: [], processes: 0, files: [] };
const { readFileSync, renameSync, writeFileSync } = fs;
const wrap = (object, name, note) => {
  const real = object[name];
  object[name] = function (...args) {
    note.call(this, args);
    return real.apply(this, args);
  };
};
wrap(child, 'spawn', () => { seen.processes += 1; });
const noteFile = ([file, flags]) => {
  const isOwn = typeof flags === 'string' && /[wax]/.test(flags);
  if (typeof file === 'string' && !isOwn && !file.endsWith('WORKFLOW.md')) seen.files.push(file);
};
for (const name of ['openSync', 'readFileSync']) wrap(fs, name, noteFile);
for (const name of ['readFile', 'open', 'opendir', 'readdir']) wrap(fs.promises, name, noteFile);
for (const name of ['run', 'all', 'get']) wrap(StatementSync.prototype, name, function () { seen.statements.push(this.sourceSQL); });
syncBuiltinESMExports();
let from = 0;
const look = setInterval(() => {
  let tick = 0;
  try { tick = JSON.parse(readFileSync(${JSON.stringify(health)}, 'utf8')).tick.number; } catch {}
  if (from === 0 && tick >= 3) {
    from = tick;
    Object.assign(seen, { statements: [], processes: 0, files: [] });
  }
  if (from === 0 || tick < from + ${ticks}) return;
  clearInterval(look);
  const timers = process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  writeFileSync(${JSON.stringify(`${report}.new`)}, JSON.stringify({ ...seen, timers }));
  renameSync(${JSON.stringify(`${report}.new`)}, ${JSON.stringify(report)});
}, 50);
`;
}
