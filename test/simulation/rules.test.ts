// @module-tag full

import { describe, expect, it } from 'vitest';
import { sleep } from '../../src/clock/clock.ts';
import { toBatonError } from '../../src/core/baton-error.ts';
import type { RunOutcome } from '../../src/core/run/run.ts';
import { stopOutcome } from '../../src/core/run/stop-outcome.ts';
import type { OrchestratorParts } from '../../src/orchestrator/assemble.ts';
import type { Store } from '../../src/store/store.ts';
import type { Counters } from '../../src/store/tables/counters.ts';
import { drawPlan } from './plan.ts';
import {
  agents,
  asking,
  changed,
  changedStore,
  hostile,
  inQuietWorld,
  isBroken,
  noLimits,
  once,
  quiet,
  withAgent,
  withLimits,
  withMaxRetries,
  withoutHolds,
  withRecovery,
} from './quiet-world.ts';
import type { Sabotage } from './sabotage.ts';
import type { World } from './world.ts';

/**
 * A rule that cannot fail proves nothing: each test breaks one part of a world without other faults, and the rule for it
 * must notice.
 */
/** Sets every counter one too high. */
function oneTooMany(counters: Counters): Counters {
  const more = (values: Readonly<Record<string, number>>) =>
    Object.fromEntries(Object.entries(values).map(([name, value]) => [name, value + 1]));
  return { ...counters, setAll: (key, values) => counters.setAll(key, more(values)) };
}

describe('A rule notices', () => {
  it('nothing when nothing goes wrong', async () => {
    expect((await inQuietWorld({})).broken).toBeNull();
  });

  it('a second agent on an issue', async () => {
    const twice = ({ runner }: OrchestratorParts): Partial<OrchestratorParts> => ({
      runner: {
        start: (request) => {
          void runner.start(request);
          return runner.start(request);
        },
      },
    });
    expect(await isBroken('one_agent', { parts: changed(twice) })).toBe(true);
  });

  it('an agent of a killed daemon that no daemon ended', async () => {
    const blind = ({ processes }: OrchestratorParts): Partial<OrchestratorParts> => ({
      processes: {
        ...processes,
        endLeftovers: async () => ({ ended: 0, left: [] }),
        endRun: async () => ({ ended: 0, left: 0 }),
      },
    });
    const plan = { incarnations: { ...quiet.incarnations, killed: 1, longestCalls: 400 } };
    expect(await isBroken('one_agent', { parts: changed(blind) }, plan)).toBe(true);
  });

  it('a workspace that is removed while its agent runs', async () => {
    // Reports the end of a run at once, while its agent is still ending.
    const hasty = ({ runner }: OrchestratorParts): Partial<OrchestratorParts> => ({
      runner: {
        start: (request) => {
          const live = runner.start(request);
          const { promise, resolve } = Promise.withResolvers<RunOutcome>();
          void live.outcome.then(resolve);
          return {
            outcome: promise,
            steer: (text) => live.steer(text),
            stop: (reason) => {
              live.stop(reason);
              resolve(stopOutcome(reason, 1));
            },
          };
        },
      },
    });
    // Agents that end slowly.
    const plan = { ...hostile, people: { ...quiet.people, changesPerMinute: 20 } };
    expect(await isBroken('live_workspace', { parts: changed(hasty) }, plan)).toBe(true);
  });

  it('a run beyond the limit', async () => {
    expect(await isBroken('slots', { parts: withAgent({ maxConcurrentAgents: 50 }) })).toBe(true);
  });

  it('a run beyond the limit of a state', async () => {
    const settings = drawPlan(1).settings;
    const agent = { ...settings.agent, maxConcurrentAgents: 3, maxConcurrentAgentsByState: { todo: 1 } };
    const plan = { startMove: false, issues: 12, settings: { ...settings, agent } };
    expect(await isBroken('slots', { parts: withAgent({ maxConcurrentAgentsByState: {} }) }, plan)).toBe(true);
  });

  it('a claim without a run, retry or hold', async () => {
    const strayClaim = once(async ({ memory, project }) => {
      const wish = { owner: 'x', host: 'there', at: 0, leaseMs: 1, slotState: null };
      await memory.store.claims.take({ project, issueId: 'nobody' }, wish);
    });
    expect(await isBroken('claim_has_reason', { afterStep: strayClaim })).toBe(true);
  });

  it('an issue that the daemon never sees', async () => {
    const hideOne = ({ trackerFor }: OrchestratorParts): Partial<OrchestratorParts> => ({
      trackerFor: (settings) => {
        const tracker = trackerFor(settings);
        const fetchByStates: typeof tracker.fetchByStates = async (...args) =>
          (await tracker.fetchByStates(...args)).filter(({ id }) => id !== 'i1');
        return { ...tracker, fetchByStates };
      },
    });
    expect(await isBroken('no_issue_forgotten', { parts: changed(hideOne) })).toBe(true);
  });

  it('a daemon that stopped ticking', async () => {
    const fewTimers = ({ clock }: OrchestratorParts): Partial<OrchestratorParts> => ({
      clock: {
        now: () => clock.now(),
        monotonic: () => clock.monotonic(),
        schedule: (delayMs, action) => clock.schedule(delayMs, clock.monotonic() > 60_000 ? () => {} : action),
      },
    });
    expect(await isBroken('no_issue_forgotten', { parts: changed(fewTimers) })).toBe(true);
  });

  it('a retry that comes too early', async () => {
    const plan = hostile;
    expect(await isBroken('backoff', { parts: withAgent({ maxRetryBackoffMs: 500 }) }, plan)).toBe(true);
  });

  it('a generation that falls', async () => {
    let next = 100;
    const falling = changedStore((tables) => ({
      ...tables,
      runs: { ...tables.runs, start: (run) => tables.runs.start({ ...run, generation: next-- }) },
    }));
    expect(await isBroken('never_falls', { parts: falling })).toBe(true);
  });

  it('runs that are lost', async () => {
    const loseRuns = (world: World): void => {
      if (world.ledger.seen > 5) void world.memory.store.runs.prune(Number.MAX_SAFE_INTEGER, 100);
    };
    expect(await isBroken('never_falls', { afterStep: loseRuns })).toBe(true);
  });

  it('an agent whose run was not recorded', async () => {
    const forgetful = changedStore((tables) => ({ ...tables, runs: { ...tables.runs, start: async () => {} } }));
    expect(await isBroken('written_first', { parts: forgetful })).toBe(true);
  });

  it('a second run before the end of the first was recorded', async () => {
    const forgetful = changedStore((tables) => ({
      ...tables,
      runs: { ...tables.runs, finish: async () => true, unfinished: async () => [] },
    }));
    expect(await isBroken('written_first', { parts: forgetful })).toBe(true);
  });

  it('an issue that never finishes', async () => {
    const stubborn = ({ clock }: OrchestratorParts): Partial<OrchestratorParts> => ({
      runner: {
        start: ({ report }) => ({
          outcome: sleep(clock, 600_000).then(() => {
            // A run that changes nothing would be held.
            report({ kind: 'changed', changed: true, facts: null });
            return { end: 'succeeded', turns: 1 };
          }),
          steer: async () => 'queued',
          stop: () => {},
        }),
      },
    });
    expect(await isBroken('issues_finish', { parts: changed(stubborn) }, { issues: 1, stormMs: 60_000 })).toBe(true);
  });

  it('a run that does not end when it is stopped', async () => {
    const deaf = ({ runner }: OrchestratorParts): Partial<OrchestratorParts> => ({
      runner: {
        start: (request) => {
          const live = runner.start(request);
          return { ...live, outcome: live.outcome.then(() => new Promise(() => {})) };
        },
      },
    });
    expect(await isBroken('issues_finish', { parts: changed(deaf) })).toBe(true);
  });

  // @conforms simulation.10
  it('a retry that is lost in a restart', async () => {
    const forgetful = changedStore((tables) => ({
      ...tables,
      retries: {
        ...tables.retries,
        read: async (key) => {
          const retry = await tables.retries.read(key);
          return retry === null ? null : { ...retry, dueAt: 0 };
        },
      },
    }));
    const plan = {
      ...agents({ tempers: { fails: 1 } }),
      incarnations: { ...quiet.incarnations, killed: 1, longestCalls: 400 },
    };
    expect(await isBroken('backoff', { parts: forgetful }, plan)).toBe(true);
  });

  it('a claim that remains after its run ended', async () => {
    const keepClaims = changedStore((tables) => ({
      ...tables,
      claims: { ...tables.claims, release: async () => true },
    }));
    expect(await isBroken('claim_has_reason', { parts: keepClaims })).toBe(true);
  });

  // @conforms simulation.8
  it('two daemons that both start an issue', async () => {
    // Every daemon gets the claim, and none sees the other.
    const greedy = changedStore((tables) => ({
      ...tables,
      claims: {
        ...tables.claims,
        held: async () => [],
        take: async (key, wish) =>
          (await tables.claims.take(key, wish)) ?? {
            ...key,
            ...wish,
            slotRole: 'worker',
            generation: 1,
            claimedAt: 0,
            leaseUntil: 0,
          },
      },
      runs: { ...tables.runs, unfinished: async () => [], latestOfIssue: async () => null },
    }));
    const blind: NonNullable<Sabotage['parts']> = (parts, world, incarnation) => {
      const changedParts = greedy(parts, world, incarnation);
      const nothing = { claims: [], retries: [], held: [], unfinishedRuns: [] };
      return { ...changedParts, store: { ...changedParts.store, recovery: async () => nothing } };
    };
    const plan = { daemons: 2, isShared: true } as const;
    expect(await isBroken('one_agent', { parts: blind }, plan)).toBe(true);
    expect(await isBroken('written_first', { parts: blind }, plan)).toBe(true);
  });

  // @conforms simulation.9
  it('a failure that is counted for an interrupted run', async () => {
    const unfair = changedStore((tables) => ({
      ...tables,
      counters: oneTooMany(tables.counters),
    }));
    const plan = { incarnations: { ...quiet.incarnations, stoppedPerMinute: 1 } };
    expect(await isBroken('counters', { parts: unfair }, plan)).toBe(true);
  });

  it('tokens that are not counted', async () => {
    const lossy = changedStore((tables) => ({ ...tables, usage: { ...tables.usage, add: async () => {} } }));
    expect(await isBroken('counters', { parts: lossy })).toBe(true);
    const blind = changedStore((tables) => ({
      ...tables,
      counters: { ...tables.counters, add: (key, name) => tables.counters.add(key, name, 1) },
    }));
    expect(await isBroken('counters', { parts: blind })).toBe(true);
  });

  // @conforms simulation.12
  it('a run beyond the limit of its issue', async () => {
    const limits = { ...noLimits, runsPerIssue: 2 };
    const plan = { ...hostile, settings: { ...drawPlan(1).settings, limits } };
    expect(await isBroken('limits', { parts: withLimits(noLimits) }, plan)).toBe(true);
  });

  it('work that continues after the limit of the day', async () => {
    const limits = { ...noLimits, tokensPerDay: 2_000 };
    const plan = { settings: { ...drawPlan(1).settings, limits } };
    expect(await isBroken('limits', { parts: withLimits(noLimits) }, plan)).toBe(true);
  });

  it('an agent that works longer than the time limit of a run', async () => {
    const limits = { ...noLimits, runWallTimeMs: 1_000 };
    const agent = { ...drawPlan(1).settings.agent, stallTimeoutMs: 0, turnTimeoutMs: 3_600_000 };
    const plan = { ...hostile, settings: { ...drawPlan(1).settings, agent, limits } };
    expect(await isBroken('limits', { parts: withLimits(noLimits) }, plan)).toBe(true);
  });

  it('a hold that ends without a person', async () => {
    const plan = { ...hostile, settings: withMaxRetries(1) };
    const loseHolds = (world: World): void => {
      for (const issueId of world.book.ids())
        if (world.now > 300_000) void world.memory.store.held.remove({ project: world.project, issueId });
    };
    expect(await isBroken('held_stays', { afterStep: loseHolds }, plan)).toBe(true);
  });

  // @conforms simulation.11
  it('a held issue that starts', async () => {
    const holdAll = once(async ({ memory, project }) => {
      const hold = { code: 'person', reason: 'lunch', since: 0, runId: null };
      for (const issueId of ['i1', 'i2', 'i3', 'i4', 'i5', 'i6'])
        await memory.store.held.put({ project, issueId, identifier: issueId, ...hold });
    });
    expect(await isBroken('held_stays', { afterStep: holdAll, parts: withoutHolds })).toBe(true);
  });

  // @conforms simulation.13
  it('a run on an account that waits for quota', async () => {
    // The next incarnation does not know what the last one learned.
    const forgetful = changedStore((tables) => ({
      ...tables,
      accounts: { ...tables.accounts, list: async () => [] },
    }));
    const plan = {
      ...agents({ tempers: { out_of_quota: 1 } }),
      incarnations: { ...quiet.incarnations, stoppedPerMinute: 1 },
    };
    expect(await isBroken('account_ready', { parts: forgetful }, plan)).toBe(true);
  });

  it('a run on an account that is nearly used up', async () => {
    const plan = agents({ hostile: 0, nearlyOut: 1 });
    expect(await isBroken('account_ready', { parts: withAgent({ quotaStopPercent: 1_000 }) }, plan)).toBe(true);
  });

  it('an account that stays in use after it refused a run', async () => {
    const forgetful = changedStore((tables) => ({
      ...tables,
      accounts: { ...tables.accounts, put: async () => {} },
    }));
    for (const temper of ['out_of_quota', 'logged_out'])
      expect(await isBroken('account_ready', { parts: forgetful }, agents({ tempers: { [temper]: 1 } }))).toBe(true);
  });

  it('an account that is tried without a record of the run', async () => {
    const forgetful = changedStore((tables) => ({
      ...tables,
      accounts: {
        ...tables.accounts,
        put: ({ parked, ...account }, at) => {
          const { probe: _probe, ...park } = parked ?? { until: 0, since: 0, why: 'quota' as const, reason: '' };
          return tables.accounts.put({ ...account, parked: parked === null ? null : park }, at);
        },
      },
    }));
    const plan = agents({ tempers: { out_of_quota: 1 } });
    expect(await isBroken('account_ready', { parts: forgetful }, plan)).toBe(true);
  });

  it('an account that waits without a reason', async () => {
    const parked = { until: Date.UTC(2026, 0, 2), since: 0, why: 'quota', reason: 'so it is' } as const;
    const madeUp = changedStore((tables) => ({
      ...tables,
      accounts: {
        ...tables.accounts,
        list: async () => [{ backend: 'rehearsal', name: 'rehearsal', windows: [], parked, parks: 1 }],
      },
    }));
    expect(await isBroken('no_issue_forgotten', { parts: madeUp })).toBe(true);
  });

  it('an answer that is sent to two runs', async () => {
    const forgetful = changedStore((tables) => ({
      ...tables,
      questions: { ...tables.questions, deliver: async () => {} },
    }));
    const plan = agents({ asks: 1, tempers: { fails: 1 } });
    expect(await isBroken('answers_delivered', { parts: forgetful }, plan)).toBe(true);
  });

  // @conforms simulation.14
  it('an answer that is sent to no run', async () => {
    const forgetful = changedStore((tables) => ({
      ...tables,
      questions: { ...tables.questions, undelivered: async () => [] },
    }));
    expect(await isBroken('answers_delivered', { parts: forgetful }, asking)).toBe(true);
  });

  it('an answer that is recorded as sent to a run that never received it', async () => {
    const hasty = changedStore((tables) => ({
      ...tables,
      questions: {
        ...tables.questions,
        answer: async (id, given) => {
          const isTaken = await tables.questions.answer(id, given);
          await tables.questions.deliver([id], (await tables.questions.read(id))?.runId ?? '');
          return isTaken;
        },
      },
    }));
    expect(await isBroken('answers_delivered', { parts: hasty }, asking)).toBe(true);
  });

  it('an answer that differs from the accepted one', async () => {
    const contrary = changedStore((tables) => ({
      ...tables,
      questions: {
        ...tables.questions,
        answer: (id, given) => tables.questions.answer(id, { ...given, answer: { decision: 'decline', values: {} } }),
      },
    }));
    expect(await isBroken('answers_delivered', { parts: contrary }, asking)).toBe(true);
  });

  it('an issue that stays held after its answer was given', async () => {
    const stubborn = changedStore((tables) => ({ ...tables, held: { ...tables.held, remove: async () => false } }));
    expect(await isBroken('answers_delivered', { parts: stubborn }, asking)).toBe(true);
  });

  // @conforms simulation.15
  it('an open question that no issue waits for', async () => {
    const careless = changedStore((tables) => ({
      ...tables,
      questions: { ...tables.questions, closeOfIssue: async () => 0 },
    }));
    const plan = { ...asking, people: { ...asking.people, changesPerMinute: 20 } };
    expect(await isBroken('question_has_reason', { parts: careless }, plan)).toBe(true);
  });

  it('a run on an issue that a person has taken over', async () => {
    const takeAll = once(async ({ memory, project }) => {
      const hold = { code: 'taken_over', reason: 'by hand', since: 0, runId: null };
      for (const issueId of ['i1', 'i2', 'i3', 'i4', 'i5', 'i6'])
        await memory.store.held.put({ project, issueId, identifier: issueId, ...hold });
    });
    expect(await isBroken('taken_over', { afterStep: takeAll, parts: withoutHolds })).toBe(true);
  });

  // @conforms simulation.16
  it('an agent that continues while a person has taken over', async () => {
    const deaf = ({ runner }: OrchestratorParts): Partial<OrchestratorParts> => ({
      runner: {
        start: (request) => {
          const live = runner.start(request);
          const stop: typeof live.stop = (reason) => {
            if (reason !== 'taken_over') live.stop(reason);
          };
          return { ...live, stop };
        },
      },
    });
    const { settings } = drawPlan(1);
    const patient = { ...settings.agent, stallTimeoutMs: 0, turnTimeoutMs: 3_600_000 };
    const plan = {
      ...agents({ tempers: { hangs: 1 } }),
      people: { ...quiet.people, takeoversPerMinute: 2 },
      settings: { ...settings, agent: patient, limits: noLimits },
    };
    expect(await isBroken('taken_over', { parts: changed(deaf) }, plan)).toBe(true);
  });

  // @conforms simulation.17
  it('a wait for quota that counts as an attempt', async () => {
    const unfair = changedStore((tables) => ({
      ...tables,
      counters: oneTooMany(tables.counters),
    }));
    const plan = agents({ tempers: { out_of_quota: 1 } });
    expect(await isBroken('quota_waits', { parts: unfair }, plan)).toBe(true);
    const another = changedStore((tables) => ({
      ...tables,
      runs: {
        ...tables.runs,
        start: (run) => tables.runs.start({ ...run, attempt: run.retryKind === 'quota' ? 9 : run.attempt }),
      },
    }));
    expect(await isBroken('quota_waits', { parts: another }, plan)).toBe(true);
  });

  // @conforms simulation.18
  it('a context recovery that starts over', async () => {
    const again = changedStore((tables) => ({
      ...tables,
      retries: {
        ...tables.retries,
        put: (retry) =>
          tables.retries.put({ ...retry, recovery: retry.recovery === null ? null : ('reduced_budget' as const) }),
      },
    }));
    expect(await isBroken('context_recovery', { parts: again }, agents({ tempers: { overflows: 1 } }))).toBe(true);
  });

  it('a context recovery that is forgotten in a restart', async () => {
    const forgetful = changedStore((tables) => ({
      ...tables,
      runs: { ...tables.runs, start: (run) => tables.runs.start({ ...run, recovery: null }) },
    }));
    const plan = {
      ...agents({ tempers: { overflows: 1 } }),
      incarnations: { ...quiet.incarnations, killed: 1, longestCalls: 400 },
    };
    expect(await isBroken('context_recovery', { parts: forgetful }, plan)).toBe(true);
  });

  it('a process that remains', async () => {
    const leave = (world: World): void => {
      const [{ incarnation } = { incarnation: null }] = world.running;
      if (incarnation !== null && world.isCalm && world.processes.ofRun('left').length === 0)
        world.processes.spawn({
          runId: 'left',
          issueId: 'i1',
          incarnation: incarnation.name,
          daemon: 'x',
          machine: 'x',
          survives: true,
        });
    };
    expect(await isBroken('issues_finish', { afterStep: leave })).toBe(true);
  });

  it('a run that has no end in the store', async () => {
    const unfinished = once(({ memory, project }) =>
      memory.store.runs.start({
        runId: 'x.1',
        project,
        issueId: 'gone',
        identifier: 'gone',
        generation: 1,
        role: 'worker',
        attempt: null,
        retryKind: null,
        backend: 'simulated',
        account: null,
        host: 'there',
        startedAt: 0,
      }),
    );
    // No sweep looks for it.
    const blind: NonNullable<Sabotage['parts']> = (parts) => {
      const recovery: Store['recovery'] = async (...args) => ({
        ...(await parts.store.recovery(...args)),
        unfinishedRuns: [],
      });
      return { ...parts, store: withRecovery(parts.store, recovery) };
    };
    expect(await isBroken('issues_finish', { afterStep: unfinished, parts: blind })).toBe(true);
  });

  it('a damaged store', async () => {
    const damage = (world: World): void => {
      if (!world.isCalm || isDamaged) return;
      isDamaged = true;
      world.memory.look('pragma foreign_keys = off');
      world.memory.look(
        "insert into run_events (run_id, seq, at, name, summary) values ('nobody', 1, 0, 'x', 'x') returning 1",
      );
    };
    let isDamaged = false;
    expect(await isBroken('issues_finish', { afterStep: damage })).toBe(true);
  });

  it('a run that ends because of a defect', async () => {
    const defect = (): Partial<OrchestratorParts> => ({
      runner: {
        start: () => ({
          outcome: Promise.resolve({
            end: 'failed',
            turns: 0,
            error: toBatonError(new TypeError('x is not a function')),
          }),
          steer: async () => 'queued',
          stop: () => {},
        }),
      },
    });
    expect(await isBroken('no_crash', { parts: changed(defect) })).toBe(true);
  });
});
