// @module-tag full
import { describe, expect, it, vi } from 'vitest';
import { MemoryTracker } from '../../../src/tracker/memory/memory-tracker.ts';
import { onEngine } from '../../conformance/store.ts';
import { fakePulls } from '../../fake/fake-pulls.ts';
import { issue } from '../../fake/issues.ts';
import { settings } from '../../fake/settings.ts';
import { SimulatedClock } from '../../fake/simulated-clock.ts';
import { engines } from '../../store/engines.ts';
import { type StagedRun, scene } from '../scene.ts';
import { commit, judging, say } from './review-scene.ts';

const ids = Array.from({ length: 8 }, (_, at) => `${at + 1}`);
const limit = 2;
/** A quarter of two, and at least one. */
const extra = 1;
const runMs = 7_000;

describe('two daemons on PostgreSQL', () => {
  for (const engine of engines.filter(({ name }) => name === 'postgres'))
    onEngine(engine, 'with a judge', ({ open, place }) => {
      // @conforms 4.114
      it('together never exceed the limit by others than judges, nor the limit and the slots of judges by all', async () => {
        const where = await place();
        const clock = new SimulatedClock({ startAt: Date.UTC(2026, 0, 1, 1) });
        const states = ['Backlog', 'Todo', 'In Progress', 'In Review', 'Done'];
        const issues = ids.map((id) => issue({ id, identifier: `T-${id}` }));
        const tracker = new MemoryTracker({ issues, states, clock });
        const pulls = fakePulls(() => 'commit-1');
        const live = new Set<StagedRun>();
        const most = { others: 0, all: 0 };
        const started: string[] = [];
        const play = (run: StagedRun): void => {
          const { role, issue: of } = run.request;
          live.add(run);
          started.push(`${role} ${of.id}`);
          const others = [...live].filter(({ request }) => request.role !== 'judge').length;
          most.others = Math.max(most.others, others);
          most.all = Math.max(most.all, live.size);
          // Each takes another time, so that the ends and starts of both daemons meet in many ways.
          clock.schedule(runMs + 700 * Number(of.id), () => {
            live.delete(run);
            if (role === 'judge') say(run);
            else commit(run, 'commit-1', { branch: `baton/t-${of.id}` });
          });
        };
        const file = {
          ...judging({}, { maxConcurrentAgents: limit }),
          polling: settings({ intervalMs: 1_000 }).polling,
        };
        const both = { clock, tracker, play, isShared: true, settings: file, pullsFor: () => pulls.as };
        const one = await scene({ ...both, store: await open(where), owner: 'one' });
        const other = await scene({ ...both, store: await open(where), owner: 'other' });
        await Promise.all([one.orchestrator.start(), other.orchestrator.start()]);
        const judged = async () =>
          (await one.store.pullRequests.list(one.project, { limit: 100 })).map(async (pull) =>
            (await one.store.verdicts.list(pull)).map(({ verdict }) => verdict),
          );
        await vi.waitFor(
          async () => {
            await clock.advance(500);
            expect(await Promise.all(await judged())).toEqual(ids.map(() => ['approved']));
          },
          { timeout: 120_000, interval: 5 },
        );
        expect(most).toEqual({ others: limit, all: limit + extra });
        // No issue had two agents of a role: none of them failed.
        expect(started.toSorted()).toEqual(ids.flatMap((id) => [`judge ${id}`, `worker ${id}`]).toSorted());
        expect([one.runs.length > 0, other.runs.length > 0]).toEqual([true, true]);
        let ended = 0;
        for (const { orchestrator } of [one, other]) void orchestrator.stop().then(() => (ended += 1));
        await vi.waitFor(async () => {
          await clock.advance(100);
          expect(ended).toBe(2);
        });
      }, 180_000);
    });
});
