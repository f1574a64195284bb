import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock/system-clock.ts';
import { allTables } from '../../src/store/all-tables.ts';
import { copyStore } from '../../src/store/backup/copy-store.ts';
import type { Store } from '../../src/store/store.ts';
import type { JobTimer } from '../../src/store/tables/job-timers.ts';
import { draft, onEngine, project, runStart, type StorePlace } from '../conformance/store.ts';
import { engines } from './engines.ts';
import { cause } from './notification-cause.ts';
import { pullDraft } from './pull-draft.ts';

const timer: JobTimer = {
  project,
  job: 'j',
  owner: '',
  lastRunAt: 1,
  nextDueAt: 2,
  outcome: 'failed',
  durationMs: 3,
  failures: 4,
  error: 'no',
};
const parked = { until: 9, since: 1, why: 'auth', reason: 'logged out' } as const;
const author = { kind: 'person', name: 'Ada' } as const;

for (const from of engines) {
  for (const to of engines) {
    const missing = from.missing ?? to.missing;
    describe.skipIf(missing !== null)(
      `a copy from ${from.name} to ${to.name}${missing ? ` (skipped: ${missing})` : ''}`,
      () => {
        const target = async () => to.place('empty');

        onEngine({ ...from, missing }, 'as the source', ({ open, place }) => {
          it('has every row of every table, and continues the numbers', async () => {
            const [source, there] = [await place(), await target()];
            await fillEverything(await open(source));
            const copied = await copyStore({ fromUrl: source.url, toUrl: there.url, clock: systemClock });
            expect(Object.keys(copied)).toEqual(allTables.map(({ name }) => name));
            expect(Math.min(...Object.values(copied))).toBeGreaterThan(0);
            expect(copied).toMatchObject({ board_issues: 452, run_events: 450 });
            for (const table of allTables)
              expect(await rows(there, table), table.name).toEqual(await rows(source, table));
            const store = await open(there);
            expect((await store.boardIssues.create(project, draft('next'), 1)).issue.identifier).toBe('BAT-453');
            const comment = await store.boardComments.add({ project, issueId: 'next' }, { author, body: 'b', at: 1 });
            expect(comment.seq).toBe(2);
            await store.boardHistory.add(
              { project, issueId: 'next' },
              { at: 1, author, field: 'f', from: 1, to: 2, reason: null },
            );
            const { command } = await store.commands.submit({
              id: 'c9',
              project,
              kind: 'k',
              payload: {},
              author,
              at: 1,
              key: null,
            });
            expect(command.seq).toBe(3);
            const held = { project, issueId: 'i0' };
            expect(await store.runs.read('r1')).toMatchObject({
              account: 'work',
              lastMessage: 'm',
              evidence: { fingerprint: '漢' },
              removal: { keptBecause: 'it' },
            });
            // By a clock that was set back it is the latest all the same.
            await store.runs.start(runStart('r2', { startedAt: 1 }));
            expect((await store.runs.list(project, { limit: 9 })).map(({ runId }) => runId)).toEqual(['r2', 'r1']);
            expect(await store.questions.open(project)).toMatchObject([{ id: 'q2', question: { text: 'Which? 漢' } }]);
            expect(await store.questions.undelivered(held)).toMatchObject([
              { id: 'q1', given: { answer: { values: { a: '🚲' } } } },
            ]);
            expect(await store.accounts.list()).toMatchObject([{ backend: 'b', name: 'n', parked }]);
            expect(await store.retries.read(held)).toMatchObject({ recovery: 'fresh_start' });
            expect(await store.messages.list(held, 9)).toMatchObject([
              { body: 'm1', path: 'a', line: 2 },
              { id: 'm2' },
            ]);
            expect(await store.pins.list(project)).toEqual([{ ...held, identifier: 'x', since: 1, author }]);
            expect(await store.claims.read(held)).toMatchObject({ host: 'here', slotState: 'Todo', generation: 1 });
            expect(await store.finishedIssues.latest(project, { from: 0, limit: 9 })).toMatchObject([
              { title: '漢 🚲', at: 7 },
            ]);
            expect(await store.pullRequests.openOfIssue(held)).toMatchObject({ number: 1, body: '漢 🚲' });
            expect(await store.pullRequests.rounds({ project, number: 1 })).toHaveLength(1);
            expect(await store.checks.waiting(project)).toMatchObject([{ number: 1, name: 'test 漢' }]);
            const timers = ['', 'me', 'you'].map((owner) => ({ ...timer, owner }));
            expect(await store.jobTimers.list(project)).toEqual(timers);
            await store.close();
            await there.remove();
          });

          it('is refused when the target has any data, and changes nothing', async () => {
            const [source, there] = [await place(), await target()];
            await fillEverything(await open(source));
            const other = await open(there);
            await other.jobTimers.put(timer);
            await expect(
              copyStore({ fromUrl: source.url, toUrl: there.url, clock: systemClock }),
            ).rejects.toMatchObject({
              code: 'store_not_empty',
            });
            expect(await other.jobTimers.list(project)).toHaveLength(1);
            expect(await other.projects.list()).toEqual([]);
            await other.close();
            await there.remove();
          });

          it('is refused onto itself', async () => {
            const source = await place();
            await expect(
              copyStore({ fromUrl: source.url, toUrl: source.url, clock: systemClock }),
            ).rejects.toMatchObject({
              code: 'store_not_empty',
            });
          });
        });
      },
    );
  }
}

onEngine(
  engines[0] ??
    (() => {
      throw new Error('no engine');
    })(),
  'in use',
  ({ open, place }) => {
    it('is refused while a daemon runs on either side', async () => {
      const [busy, other] = [await place(), await place()];
      await open(busy, 'daemon');
      const refused = { code: 'store_in_use' };
      await expect(copyStore({ fromUrl: busy.url, toUrl: other.url, clock: systemClock })).rejects.toMatchObject(
        refused,
      );
      await expect(copyStore({ fromUrl: other.url, toUrl: busy.url, clock: systemClock })).rejects.toMatchObject(
        refused,
      );
    });
  },
);

async function rows(place: StorePlace, table: (typeof allTables)[number]): Promise<unknown[]> {
  const found = await place.query(`select * from ${table.name} order by ${table.key.join(', ')}`);
  // Past the store `pg` gives large numbers as text, and the order of columns is each engine's own.
  return found.map((row) =>
    Object.fromEntries(Object.entries(row).map(([name, value]) => [name, value === null ? null : `${value}`])),
  );
}

async function fillEverything(store: Store): Promise<void> {
  await store.transaction(async (tables) => {
    const key = { project, issueId: 'i0' };
    await tables.projects.ensure(project, 1);
    await tables.boardIssues.create(project, draft('zz'), 1);
    // The parent comes after its child in the order of the copy.
    await tables.boardIssues.create(
      project,
      draft('aa', { parentId: 'zz', description: '漢字 🚲', blockerIds: ['zz'] }),
      2,
    );
    for (let index = 0; index < 450; index++) await tables.boardIssues.create(project, draft(`i${index}`), 3);
    await tables.boardComments.add(key, { author, body: 'b', at: 1 });
    await tables.boardHistory.add(key, { at: 1, author, field: 'status', from: null, to: ['todo'], reason: null });
    await tables.claims.take(key, { owner: 'me', host: 'here', at: 1, leaseMs: 10, slotState: 'Todo' });
    await tables.runs.start(runStart('r0', { prompt: { version: 'v', source: '漢' } }));
    await tables.runs.finish('r0', 1, { endedAt: 1, outcome: 'succeeded', errorCode: null, errorMessage: null });
    await tables.runs.prune(2, 1);
    await tables.runs.start(runStart('r1', { account: 'work' }));
    await tables.runEvents.append(
      'r1',
      Array.from({ length: 450 }, (_, at) => ({ at, name: 'n', summary: `${at}` })),
    );
    await tables.retries.put({
      ...key,
      identifier: 'x',
      url: 'https://example.org/x',
      kind: 'failure',
      attempt: 1,
      failures: 1,
      staleRuns: 2,
      dueAt: 1,
      error: 'e',
      recovery: 'fresh_start',
    });
    for (const id of ['m1', 'm2'])
      await tables.messages.leave(key, { id, at: 1, kind: 'note', author, body: id, path: 'a', line: 2, commit: 'c' });
    const question = { kind: 'input', text: 'Which? 漢', detail: '', fields: [] } as const;
    for (const id of ['q1', 'q2'])
      await tables.questions.ask({ ...key, id, identifier: 'x', runId: 'r1', askedAt: 1, question });
    await tables.questions.answer('q1', { at: 2, author, answer: { decision: 'decline', values: { a: '🚲' } } });
    await tables.accounts.put({ backend: 'b', name: 'n', windows: [], parked, parks: 1 }, 1);
    await tables.runs.record('r1', 1, { lastMessage: 'm', evidence: { changed: true, fingerprint: '漢', git: null } });
    await tables.runs.noteRemoval('r1', { at: 1, keptBecause: 'it', saved: [] });
    await tables.pins.put({ ...key, identifier: 'x', since: 1, author });
    await tables.runTexts.put({ project, kind: 'issue', textId: 't', runId: 'r', at: 1 });
    await tables.held.put({ ...key, identifier: 'x', code: 'person', reason: 'r', since: 1, runId: null });
    await tables.counters.add(key, 'n', Number.MAX_SAFE_INTEGER);
    for (const owner of ['', 'me', 'you']) await tables.jobTimers.put({ ...timer, owner });
    const told = Array.from({ length: 250 }, (_, index) => ({ target: `t${index % 2}`, cause: cause(`k${index}`) }));
    await tables.notifications.see(project, told, 5, 1);
    await tables.finishedIssues.note({ ...key, identifier: 'x', title: '漢 🚲', url: null, state: 'Done', at: 7 }, 0);
    const pull = await tables.pullRequests.open(pullDraft(key.issueId, { body: '漢 🚲' }));
    await tables.checks.plan(pull, 'c', [{ name: 'test 漢', command: 'true' }]);
    const finding = { file: 'a 漢', line: 1, severity: 'must', problem: 'p', wanted: 'w' } as const;
    const opinion = { verdict: 'rejected', summary: 'no "it" is not', findings: [finding] } as const;
    await tables.verdicts.add(pull, {
      ...{ ...opinion, commit: 'c', place: 0, runId: 'r', agent: 'default', promptVersion: '1', at: 7 },
    });
    const mirror = { mirrored: ['phase:a'], mirroredAt: 4, mirroring: { labels: ['phase:b'], by: 'a', at: 5 } };
    const record = { phase: 'a', since: 1, revisions: 2, revisionSince: 3, skipped: ['漢'], ...mirror };
    await tables.phases.put(key, record);
    const child = {
      id: 'part',
      title: '漢',
      description: '',
      priority: null,
      labels: [],
      blockedBy: [],
      identifier: null,
    };
    await tables.plans.add(key, { runId: 'r', summary: '漢', at: 1, depth: 1, madeAt: null, children: [child] });
    const learning = {
      text: '漢',
      origins: [],
      author: { kind: 'orchestrator' },
      status: 'trial',
      at: 1,
      key: 'k',
    } as const;
    await tables.learnings.offer(key, [await tables.learnings.add(key.project, learning)], 1);
    await tables.tasks.add(key.project, {
      id: 'intake:1',
      kind: 'intake',
      title: '漢',
      text: '🚲',
      author,
      createdAt: 1,
    });
    const version = await tables.artifacts.add(key, { phase: 'a', text: '# 漢 🚲', author, at: 1 });
    const found = [{ code: 'missing_sections', sections: ['漢'] }] as const;
    const said = { path: 'a.md', version, summary: '漢', skipTo: 'b', at: 1, found };
    await tables.completionClaims.add(key, { id: 'claim', phase: 'a', runId: null, ...said });
    await tables.completionClaims.decide('claim', 'pending', { state: 'judging', reasons: [], at: 2 });
    const labels = { provider: 'p', route: '/r', method: 'GET', statusClass: '2xx', job: 'j', cause: 'c' };
    for (let minute = 0; minute < 300; minute++) {
      await tables.requestCounts.add({ ...labels, at: minute * 60_000, bytes: 1, latencyMs: 1 });
    }
    const tokens = {
      inputTokens: 1,
      cachedInputTokens: 1,
      outputTokens: 1,
      reasoningTokens: 1,
      totalTokens: 1,
      costMicroUsd: 1,
    };
    await tables.usage.add({ ...key, day: '2026-11-15', role: 'worker', ...tokens, runs: 1 });
    for (const id of ['c1', 'c2'])
      await tables.commands.submit({ id, project, kind: 'k', payload: {}, author, at: 1, key: id });
  });
}
