import path from 'node:path';
import { systemClock } from '../src/clock/system-clock.ts';
import { openStore } from '../src/store/open-store.ts';
import type { StoreTables } from '../src/store/store.ts';
import { type BuiltBaton, buildBaton } from './built-baton.ts';
import { LiveDaemon } from './live-daemon.ts';
import { type Figure, ratioOf } from './report.ts';
import { Scratch } from './scratch.ts';
import { issuesText, workflowText } from './workflow-text.ts';

const finished = 10_000;
const retries = 100;
const held = 50;
const rounds = 3;
const hourMs = 3_600_000;

/**
 * How long `baton start` takes from the start of its process to its first run: with a full store and with an empty one, in
 * turns. The tracker has the same issues both times.
 */
export async function benchRestart(): Promise<readonly Figure[]> {
  using scratch = new Scratch();
  using baton = await buildBaton();
  const full: number[] = [];
  const empty: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    empty.push(await firstDispatch(baton, scratch, `empty-${round}`, false));
    full.push(await firstDispatch(baton, scratch, `full-${round}`, true));
  }
  const [fullMs, emptyMs] = [median(full), median(empty)];
  const inStore = `${finished.toLocaleString('en')} finished runs, ${retries} retries and ${held} held issues`;
  return [
    {
      what: `from the start of the process to the first run, with ${inStore}`,
      seen: `${fullMs.toFixed(0)} ms`,
      aim: null,
      ratio: ratioOf(fullMs, emptyMs, `an empty store (${emptyMs.toFixed(0)} ms)`),
    },
  ];
}

async function firstDispatch(baton: BuiltBaton, scratch: Scratch, name: string, isFull: boolean): Promise<number> {
  const folder = path.join(scratch.folder, name);
  const known = [...names('RETRY', retries), ...names('HELD', held)];
  const issuesFile = scratch.write(`${name}/issues.json`, issuesText([...known, 'NEW-1']));
  const workflow = workflowText({ intervalMs: 30_000, slots: 1, command: 'true', issuesFile });
  const workflowPath = scratch.write(`${name}/WORKFLOW.md`, workflow);
  if (isFull) await fill(`sqlite:${path.join(folder, 'state', 'baton.db')}`);
  await using daemon = new LiveDaemon(baton, workflowPath, folder);
  return await daemon.logged('run_started');
}

/** The store of a daemon that stopped in order: finished runs, retries that are due later, and held issues. */
async function fill(url: string): Promise<void> {
  await using store = await openStore({ url, clock: systemClock, mode: 'daemon' });
  const now = systemClock.now();
  const project = (await store.projects.ensure('bench', now)).id;
  await store.transaction(async (tables) => {
    for (let index = 0; index < finished; index += 1) await addRun(tables, project, index, now);
    for (const identifier of names('RETRY', retries)) {
      const due = { kind: 'failure', attempt: 1, failures: 1, staleRuns: 0, dueAt: now + hourMs } as const;
      const why = { error: 'it failed', url: null, recovery: null, note: null };
      await tables.retries.put({ project, issueId: identifier, identifier, ...due, ...why });
    }
    for (const identifier of names('HELD', held)) {
      const hold = { code: 'person', reason: 'held by hand', since: now, runId: null };
      await tables.held.put({ project, issueId: identifier, identifier, ...hold });
    }
  });
}

async function addRun(tables: StoreTables, project: string, index: number, now: number): Promise<void> {
  const runId = `run-${index}`;
  const startedAt = now - hourMs - index * 1_000;
  const identifier = `OLD-${index % 2_000}`;
  await tables.runs.start({
    runId,
    project,
    issueId: identifier,
    identifier,
    generation: 1,
    role: 'worker',
    attempt: null,
    retryKind: null,
    backend: 'command',
    account: null,
    host: 'bench',
    startedAt,
  });
  const events = ['session_started', 'turn_started', 'turn_completed'].map((name) => ({
    at: startedAt,
    name,
    summary: name,
  }));
  await tables.runEvents.append(runId, events);
  const end = { endedAt: startedAt + 60_000, outcome: 'succeeded', errorCode: null, errorMessage: null } as const;
  await tables.runs.finish(runId, 1, end);
}

function names(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}-${index}`);
}

function median(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? 0;
}
