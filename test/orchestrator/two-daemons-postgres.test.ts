// @module-tag full
import { describe, expect, it, vi } from 'vitest';
import { lessonsIn } from '../../src/core/learning/lesson.ts';
import type { Settings } from '../../src/core/settings.ts';
import type { SetupProposal } from '../../src/core/task/setup-proposal.ts';
import type { Store } from '../../src/store/store.ts';
import { onEngine, type StoreHarness } from '../conformance/store.ts';
import { settings } from '../fake/settings.ts';
import { SimulatedClock } from '../fake/simulated-clock.ts';
import { engines } from '../store/engines.ts';
import { pullDraft } from '../store/pull-draft.ts';
import { ada } from '../tracker/board-scene.ts';
import { bigIssue, plan, planned, plannerScene, subtask } from './planner/planner-scene.ts';
import { type Scene, type SceneOptions, scene } from './scene.ts';

const minute = 60_000;
const day = 24 * 60 * minute;
const repo = { location: '/project', shown: '/project', isLocal: true };
const base = settings({ intervalMs: 1_000 });
const withRepository: Settings = { ...base, workspace: { ...base.workspace, repo } };
const proposal: SetupProposal = { kind: 'setup', setup: null, checks: [], notes: 'n', commit: 'c', revision: 'r' };

/** Lets a second pass until it holds: PostgreSQL answers in its own time. */
function reached(clock: SimulatedClock, check: () => unknown): Promise<void> {
  return vi.waitFor(
    async () => {
      await clock.advance(1_000);
      await check();
    },
    { timeout: 60_000, interval: 5 },
  );
}

async function stopped({ orchestrator, clock }: Pick<Scene, 'orchestrator' | 'clock'>): Promise<void> {
  let isOver = false;
  void orchestrator.stop().then(() => {
    isOver = true;
  });
  await reached(clock, () => expect(isOver).toBe(true));
}

/** Two daemons on one database, each with a connection of its own. */
async function two<S extends Scene>(
  { place, open }: StoreHarness,
  make: (options: SceneOptions) => Promise<S>,
): Promise<readonly [S, S]> {
  const where = await place();
  const clock = new SimulatedClock({ startAt: Date.UTC(2026, 0, 1, 1) });
  const both = { clock, isShared: true };
  const one = await make({ ...both, store: await open(where), owner: 'one' });
  const other = await make({ ...both, store: await open(where), owner: 'other' });
  return [one, other];
}

describe('two daemons on PostgreSQL', () => {
  for (const engine of engines.filter(({ name }) => name === 'postgres')) {
    onEngine(engine, 'with a setup', (harness) => {
      // @conforms 4.138, 4.58
      it('run it once; after a kill it has failed, and the other one tries it again when a person asks', async () => {
        const stages = await two(harness, async (options) => {
          const stage = await scene({ ...options, issues: [], settings: withRepository });
          await stage.orchestrator.start();
          return stage;
        });
        const [one, other] = stages;
        const { clock } = one;
        const starts = () => one.runs.length + other.runs.length;
        await one.command('setup_begin');
        await reached(clock, () => expect(starts()).toBe(1));
        const tasks = () => other.store.tasks.list(other.project, { kind: 'setup', limit: 10 });
        const [task] = await tasks();
        for (let at = 0; at < 10; at += 1) await clock.advance(1_000);
        expect(starts()).toBe(1);

        const [first, next] = one.runs.length === 1 ? [one, other] : [other, one];
        first.kill();
        const current = async () => (await next.store.tasks.list(next.project, { kind: 'setup', limit: 10 }))[0];
        await reached(clock, async () =>
          expect(await current()).toMatchObject({ status: 'failed', error: { code: 'orchestrator_restarted' } }),
        );
        await next.command('task_retry', { task: task?.id });
        await reached(clock, () => expect(next.runs).toHaveLength(1));
        await next.runs[0]?.request.task?.propose(proposal);
        next.runs[0]?.succeed();
        await reached(clock, async () => expect(await current()).toMatchObject({ status: 'proposed', proposal }));
        expect(starts()).toBe(2);
        await stopped(next);
      }, 180_000);
    });

    onEngine(engine, 'with a planner', (harness) => {
      // @conforms planner.1
      it('split an issue once, and the other one plans it when the first is killed before its plan', async () => {
        const [one, other] = await two(harness, (options) => plannerScene({ ...options, settings: planned() }));
        const { clock } = one;
        const works = () => [...one.works(), ...other.works()];
        await bigIssue(one);
        await reached(clock, () => expect(works()).toEqual(['planner BAT-1']));
        for (let at = 0; at < 10; at += 1) await clock.advance(1_000);
        expect(works()).toEqual(['planner BAT-1']);

        const [first, next] = one.runs.length === 1 ? [one, other] : [other, one];
        first.kill();
        await reached(clock, () => expect(next.works()).toEqual(['planner BAT-1']));
        // What the agent of the dead daemon says counts for nothing, before the plan and after it.
        const late = { summary: '', subtasks: [subtask('x'), subtask('y')] };
        await expect(plan(first.runs[0], late)).rejects.toMatchObject({ code: 'claim_lost' });
        const made = { made: ['BAT-2', 'BAT-3', 'BAT-4'] };
        expect(await plan(next.runs[0])).toEqual(made);
        expect(await plan(first.runs[0], late)).toEqual(made);
        next.runs[0]?.succeed();
        await reached(clock, () => expect(next.works().at(-1)).toBe('worker BAT-2'));
        expect(await next.statuses()).toEqual({
          ...{ 'BAT-1': 'blocked', 'BAT-2': 'in_progress', 'BAT-3': 'todo', 'BAT-4': 'todo' },
        });
        // The parent returns when its parts are over.
        for (const name of ['BAT-4', 'BAT-3', 'BAT-2'])
          await next.board.move((await next.board.find(name)).id, 'done', ada);
        next.runs.at(-1)?.end();
        await reached(clock, () => expect(next.works().at(-1)).toBe('worker BAT-1'));
        next.runs.at(-1)?.end();
        await stopped(next);
      }, 180_000);
    });

    onEngine(engine, 'with a learner', (harness) => {
      // @conforms 4.129
      it('begin it once and end each trial once, and the other one does both when the first is killed', async () => {
        const wanted = learning();
        const [one, other] = await two(harness, async (options) => {
          const stage = await scene({ ...options, issues: [], settings: wanted });
          await stage.orchestrator.start();
          return stage;
        });
        const { clock, project } = one;
        const person = { kind: 'person', name: 'ada' } as const;
        const noted = async (id: string): Promise<void> => {
          const key = { project, issueId: '1' };
          await other.store.messages.leave(key, { id, at: clock.now(), kind: 'note', author: person, body: id });
        };
        /** A learning whose trial is over: work came back with it. */
        const tried = async (key: string): Promise<void> => {
          const at = clock.now();
          const draft = { text: key, origins: [], author: person, status: 'trial', at, key } as const;
          const id = await other.store.learnings.add(project, draft);
          for (const [issueId, isGiven] of [
            [`${key}1`, true],
            [`${key}2`, false],
          ] as const) {
            const draft = { ...pullDraft(issueId, { at: at + 1, headCommit: 'h' }), project };
            const pull = await other.store.pullRequests.open(draft);
            if (!isGiven) continue;
            await other.store.pullRequests.sendBack(pull, 'h', { at: at + 2, by: person, kind: 'person' });
            await other.store.learnings.offer({ project, issueId }, [id], at + 1);
          }
        };
        const standing = async () => ({
          runs: one.runs.length + other.runs.length,
          tasks: (await other.store.tasks.list(project, { kind: 'learn', limit: 10 })).map(({ status }) => status),
          learnings: (await other.store.learnings.list(project)).map(({ status }) => status),
          decided: [one, other].map(decisions).reduce((sum, count) => sum + count),
        });
        await tried('a');
        await noted('n1');
        const begun = { runs: 1, tasks: ['waiting'], learnings: ['faded'], decided: 1 };
        await reached(clock, async () => expect(await standing()).toEqual(begun));
        for (let at = 0; at < 180; at += 1) await clock.advance(1_000);
        expect(await standing()).toEqual(begun);

        const [first, next] = one.runs.length === 1 ? [one, other] : [other, one];
        first.kill();
        await tried('b');
        const inherited = { runs: 2, tasks: ['waiting', 'failed'], learnings: ['faded', 'faded'], decided: 2 };
        await reached(clock, async () => expect(await standing()).toEqual(inherited));
        const { task } = next.runs[0]?.request ?? {};
        expect(lessonsIn(task?.task.text ?? '').get(1)).toMatchObject({ kind: 'note', words: 'n1' });
        // What the agent of the dead daemon proposes counts for nothing.
        const late = { kind: 'learnings', learnings: [] } as const;
        await expect(first.runs[0]?.request.task?.propose(late)).rejects.toMatchObject({ code: 'claim_lost' });
        await task?.propose(late);
        next.runs[0]?.succeed();
        const answered = { ...inherited, tasks: ['proposed', 'failed'] };
        await reached(clock, async () => expect(await standing()).toEqual(answered));
        for (let at = 0; at < 180; at += 1) await clock.advance(1_000);
        expect(await standing()).toEqual(answered);
        await stopped(next);
      }, 180_000);
    });

    onEngine(engine, 'with a retention', (harness) => {
      // @conforms 4.14, 4.130
      it('prune the store in turns of one, and the other one goes on when the first is killed', async () => {
        const times: number[] = [];
        const where = await harness.place();
        const clock = new SimulatedClock({ startAt: Date.UTC(2026, 0, 1, 1) });
        const daemon = async (owner: string): Promise<Scene> => {
          const through = (store: Store): Store => ({
            ...store,
            maintain: () => {
              times.push(clock.now());
              return store.maintain();
            },
          });
          const store = await harness.open(where);
          const stage = await scene({ clock, store, through, owner, isShared: true, issues: [], settings: base });
          await stage.orchestrator.start();
          return stage;
        };
        const idle = async (...stages: readonly Scene[]): Promise<void> => {
          // A step of a prune waits for its turn, which takes no time.
          await clock.advance(0);
          const views = stages.flatMap(({ orchestrator }) => orchestrator.read().jobs.filter(isMaintenance));
          expect(views.filter(({ isRunning }) => isRunning)).toEqual([]);
          const [timer] = (await stages[0]?.store.jobTimers.list(stages[0].project))?.filter(isMaintenance) ?? [];
          expect(timer?.lastRunAt ?? 0).toBeGreaterThanOrEqual(
            Math.max(0, ...views.map(({ lastRunAt }) => lastRunAt ?? 0)),
          );
        };
        // Time stands still while PostgreSQL has not answered: a maintenance of minutes would be another test.
        const pass = async (minutes: number, ...stages: readonly Scene[]): Promise<void> => {
          for (let at = 0; at < minutes; at += 0.5) {
            await clock.advance(minute / 2);
            await vi.waitFor(() => idle(...stages), { timeout: 60_000, interval: 5 });
          }
        };
        const one = await daemon('one');
        const { project, store } = one;
        const oldTask = async (id: string): Promise<void> => {
          const at = clock.now() - 100 * day;
          const author = { kind: 'orchestrator' } as const;
          await store.tasks.add(project, { id, kind: 'intake', title: id, text: '', author, createdAt: at });
          await store.tasks.decide({ project, taskId: id }, 'refused', null, at);
        };
        const left = async () => (await store.tasks.list(project, { limit: 10 })).length;
        await pass(3, one);
        const other = await daemon('other');
        await oldTask('intake:1');
        await pass(60, one, other);
        expect(await left()).toBe(0);
        expect(times.slice(1).map((at, index) => at - (times[index] ?? 0) >= 9 * minute)).toEqual(
          Array(times.length - 1).fill(true),
        );
        expect([5, 6, 7]).toContain(times.length);

        one.kill();
        const before = times.length;
        await oldTask('intake:2');
        await pass(30, other);
        expect([await left(), times.length - before]).toEqual([0, 3]);
        await stopped(other);
      }, 180_000);
    });
  }
});

function learning(): Settings {
  return {
    ...base,
    polling: { ...base.polling, jobIntervalsMs: { learning: minute } },
    learner: {
      ...base.learner,
      ...{ enabled: true, minLessons: 1, runsPerDay: 10, cooldownMs: minute, trialIssues: 1 },
    },
  };
}

const decisions = ({ logger }: Scene): number =>
  logger.lines.filter(({ event }) => event === 'learning_decided').length;

const isMaintenance = (each: { readonly name?: string; readonly job?: string }): boolean =>
  (each.name ?? each.job) === 'store_maintenance';
