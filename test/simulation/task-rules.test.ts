// @module-tag full
import { describe, expect, it } from 'vitest';
import { isTaskId } from '../../src/core/task/task.ts';
import type { Tracker } from '../../src/tracker/tracker.ts';
import type { RuleName } from './broken-rule.ts';
import type { Plan } from './plan.ts';
import { agents, changed, changedStore, inQuietWorld, isFound, withSettings } from './quiet-world.ts';
import type { Sabotage } from './sabotage.ts';
import { simulatedTracker } from './simulated-tracker.ts';
import type { ScannerPlan, TasksPlan } from './tasks/task-plan.ts';

const role = { maxIssues: 3, runsPerDay: 0, timeoutMs: 300_000 };
const scanner: ScannerPlan = {
  ...role,
  runsPerDay: 20,
  maxBacklog: 50,
  cooldownMs: 20_000,
  everyMs: 10_000,
  asksPerMinute: 0,
  promotes: false,
  issues: 1,
};
const calm: TasksPlan = {
  intake: { ...role, perMinute: 1 },
  scanner: null,
  decisionsPerMinute: 3,
  ...{ silent: 0, repeats: 0, greedy: 0, crashes: 0, isNight: false, usdPerDay: 0 },
};
const scanning = { scanner, intake: { ...role, perMinute: 0 } };

/** As in `rules.test.ts`, in a world with intakes and scans. */
describe('A rule of tasks notices', { timeout: 240_000 }, () => {
  it('nothing when agents propose too much and again, and people accept, edit, refuse and try again', async () => {
    const hostile = {
      silent: 0.3,
      repeats: 0.5,
      greedy: 0.4,
      crashes: 0.2,
      scanner,
      decisionsPerMinute: 6,
      usdPerDay: 0.2,
    };
    const { broken, counts } = await withTasks({}, hostile, { stormMs: 60 * 60_000 });
    expect(broken).toBeNull();
    for (const what of [
      ...['issue filed for a task', 'scan began', 'task agent: says nothing', 'task agent: proposes too much'],
      ...['task agent: proposes again', 'task: accept_some', 'task: accept_edited', 'task: refuse', 'task: retry'],
    ])
      expect([what, counts.get(what) ?? 0]).not.toEqual([what, 0]);
  });

  it('nothing when a day ends and its budget begins again', async () => {
    const budget = { intake: { ...role, runsPerDay: 1, perMinute: 2 }, isNight: true, usdPerDay: 0.002 };
    const { broken, runs } = await withTasks({}, budget, { issues: 1 });
    expect(broken).toBeNull();
    expect(runs).toBeGreaterThan(1);
  });

  // @conforms simulation.35
  it('more runs of a role than the budget of the day', async () => {
    const generous = withSettings((all) => ({
      ...all,
      intake: { ...all.intake, runsPerDay: 0 },
      scanner: { ...all.scanner, runsPerDay: 50 },
    }));
    expect(await isBroken('role_budgets', generous, { intake: { ...role, runsPerDay: 1, perMinute: 1 } })).toBe(true);
    const one = { ...scanning, scanner: { ...scanner, runsPerDay: 1 } };
    expect(await isBroken('role_budgets', generous, one)).toBe(true);
  });

  // @conforms simulation.35
  it('a run of a role whose money is used up', async () => {
    const generous = withSettings((all) => ({
      ...all,
      intake: { ...all.intake, usdPerDay: 0 },
      scanner: { ...all.scanner, usdPerDay: 0 },
    }));
    expect(await isBroken('role_budgets', generous, { usdPerDay: 0.001 })).toBe(true);
    expect(await isBroken('role_budgets', generous, { ...scanning, decisionsPerMinute: 6, usdPerDay: 0.001 })).toBe(
      true,
    );
  });

  it('a task that proposes more than its role allows', async () => {
    const generous = withSettings((all) => ({ ...all, intake: { ...all.intake, maxIssues: 500 } }));
    expect(await isBroken('filed_once', generous, { greedy: 1 })).toBe(true);
  });

  // @conforms simulation.36
  it('an issue that no person accepted', async () => {
    const eager = withChanges((changes) => ({
      ...changes,
      createIssue: async (draft, ...rest) => {
        const made = await changes?.createIssue?.(draft, ...rest);
        await changes?.createIssue?.({ ...draft, key: `${draft.key}0` }, ...rest);
        return made as NonNullable<typeof made>;
      },
    }));
    expect(await isBroken('filed_once', eager)).toBe(true);
  });

  it('an issue that is filed again', async () => {
    const forgetful = changedStore((tables) => ({
      ...tables,
      tasks: { ...tables.tasks, note: async () => false, decide: async () => false },
    }));
    const sabotage: Sabotage = { parts: forgetful, afterStep: ({ tasks }) => tasks?.filed.clear() };
    expect(await isFoundIn('filed_once', sabotage, { decisionsPerMinute: 10 })).toBe(true);
  });

  it('an accepted proposal that was replaced', async () => {
    const replaced: Sabotage = {
      afterStep: ({ memory }) =>
        void memory.look(
          `update tasks set proposal_json = replace(proposal_json, '"title":"Idea', '"title":"Other') where
            proposal_json like '%"accepted"%"title":"Idea%' or proposal_json like '%"title":"Idea%"accepted"%' returning id`,
        ),
    };
    expect(await isFoundIn('filed_once', replaced, {})).toBe(true);
  });

  it('a filed issue that its task does not know', async () => {
    const forgetful = changedStore((tables) => ({
      ...tables,
      tasks: { ...tables.tasks, note: async () => false, decide: async () => false },
    }));
    expect(await isBroken('filed_once', forgetful)).toBe(true);
  });

  // @conforms simulation.37
  it('a tracker that is asked about a task', async () => {
    const curious: NonNullable<Sabotage['parts']> = (parts, world, incarnation) => ({
      ...parts,
      trackerFor: (settings) => {
        const tracker = parts.trackerFor(settings);
        const bare = simulatedTracker(world, incarnation);
        const fetchByIds: Tracker['fetchByIds'] = async (ids, ask) => {
          await bare.fetchByIds(ids, ask);
          return tracker.fetchByIds(ids, ask);
        };
        return { ...tracker, fetchByIds };
      },
    });
    expect(await isBroken('task_unasked', curious)).toBe(true);
  });

  // @conforms simulation.38
  it('a scan whose pause is not over', async () => {
    const restless = withSettings((all) => ({ ...all, scanner: { ...all.scanner, cooldownMs: 1 } }));
    const slow = { ...scanning, scanner: { ...scanner, cooldownMs: 24 * 3_600_000 }, decisionsPerMinute: 6 };
    expect(await isBroken('scan_due', restless, slow)).toBe(true);
  });

  it('a scan while there is other work, and one in spite of a full backlog', async () => {
    const busy = withSettings((all) => ({ ...all, tracker: { ...all.tracker, activeStates: [] } }));
    expect(await isBroken('scan_due', busy, scanning)).toBe(true);
    const full = withSettings((all) => ({ ...all, scanner: { ...all.scanner, maxBacklog: 50 } }));
    expect(await isBroken('scan_due', full, { ...scanning, scanner: { ...scanner, maxBacklog: 0 } })).toBe(true);
  });

  it('a scan after one that is not decided', async () => {
    const hasty = changedStore((tables) => ({
      ...tables,
      tasks: {
        ...tables.tasks,
        list: async (...given) => {
          const found = await tables.tasks.list(...given);
          return given[1].kind === 'scan' ? found.map((task) => ({ ...task, status: 'refused' as const })) : found;
        },
      },
    }));
    expect(await isBroken('scan_due', hasty, { ...scanning, decisionsPerMinute: 0 })).toBe(true);
  });

  // @conforms simulation.39
  it('a task that no daemon knows', async () => {
    const hidden: Sabotage = {
      parts: changed(({ trackerFor }) => ({
        trackerFor: (settings) => {
          const tracker = trackerFor(settings);
          const fetchByStates: Tracker['fetchByStates'] = async (...given) =>
            (await tracker.fetchByStates(...given)).filter(({ id }) => !isTaskId(id));
          return { ...tracker, fetchByStates };
        },
      })),
      afterStep: ({ memory, project }) =>
        void memory.look(
          `insert or ignore into tasks (project, id, kind, title, body, status, author_json, created_at, changed_at)
            values ('${project}', 'intake:lost', 'intake', '', '', 'waiting', '{"kind":"orchestrator"}', 1, 1) returning id`,
        ),
    };
    expect(await isFoundIn('tasks_end', hidden, {})).toBe(true);
    expect(await isFoundIn('issues_finish', hidden, {})).toBe(true);
  });

  it('a run of a task that does not end', async () => {
    const patient = withSettings((all) => ({
      ...all,
      agent: { ...all.agent, turnTimeoutMs: 3_600_000, stallTimeoutMs: 0 },
      intake: { ...all.intake, timeoutMs: 36_000_000 },
    }));
    const plan = { ...agents({ tempers: { hangs: 1 } }), stormMs: 60 * 60_000, issues: 1 };
    const undisturbed = { intake: { ...role, perMinute: 0.1 }, decisionsPerMinute: 0, silent: 1 };
    expect(await isBroken('tasks_end', patient, undisturbed, plan)).toBe(true);
  });

  // @conforms simulation.40
  it('a task that is tried again and again by itself', async () => {
    const restless = changedStore((tables) => ({
      ...tables,
      tasks: {
        ...tables.tasks,
        fail: async (key, error, at) => {
          await tables.tasks.fail(key, error, at);
          return tables.tasks.tryAgain(key, at);
        },
      },
    }));
    expect(await isBroken('task_runs', restless, { silent: 1 })).toBe(true);
  });

  // @conforms simulation.41
  it('an issue with the label `proposed` that Baton promotes', async () => {
    const blind: NonNullable<Sabotage['parts']> = changed(({ trackerFor }) => ({
      trackerFor: (settings) => {
        const tracker = trackerFor(settings);
        const { fetchPromotable } = tracker;
        return {
          ...tracker,
          fetchPromotable: async (...given) =>
            ((await fetchPromotable?.(...given)) ?? []).map((issue) => ({ ...issue, labels: [] })),
        };
      },
    }));
    const promoting = { ...scanning, scanner: { ...scanner, promotes: true }, decisionsPerMinute: 10 };
    expect(await isBroken('proposed_stays', blind, promoting)).toBe(true);
  });
});

type Changes = NonNullable<Tracker['changes']>;

function withChanges(change: (changes: Changes) => Changes): NonNullable<Sabotage['parts']> {
  return changed(({ trackerFor }) => ({
    trackerFor: (settings) => {
      const tracker = trackerFor(settings);
      return { ...tracker, changes: tracker.changes === null ? null : change(tracker.changes) };
    },
  }));
}

function worldOf(tasks: Partial<TasksPlan>, plan: Partial<Plan> = {}): Partial<Plan> {
  return { stormMs: 30 * 60_000, issues: 2, ...plan, tasks: { ...calm, ...tasks } };
}

function withTasks(sabotage: Sabotage, tasks: Partial<TasksPlan>, plan: Partial<Plan> = {}) {
  return inQuietWorld(sabotage, worldOf(tasks, plan));
}

function isFoundIn(rule: RuleName, sabotage: Sabotage, tasks: Partial<TasksPlan>, plan: Partial<Plan> = {}) {
  return isFound(rule, sabotage, worldOf(tasks, plan));
}

function isBroken(
  rule: RuleName,
  parts: NonNullable<Sabotage['parts']>,
  tasks: Partial<TasksPlan> = {},
  plan: Partial<Plan> = {},
): Promise<boolean> {
  return isFoundIn(rule, { parts }, tasks, plan);
}
