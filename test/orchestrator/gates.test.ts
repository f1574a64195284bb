import { describe, expect, it } from 'vitest';
import { BatonError } from '../../src/core/baton-error.ts';
import type { SkipReason } from '../../src/core/dispatch/eligibility.ts';
import type { OutsideGateName } from '../../src/core/dispatch/gates.ts';
import { decisionKey, dispatchGates, type GateParts } from '../../src/orchestrator/dispatch/gates.ts';
import type { Phases } from '../../src/orchestrator/pipeline/phases.ts';
import { Candidates } from '../../src/orchestrator/poll/candidates.ts';
import { Judges } from '../../src/orchestrator/review/judges.ts';
import { noTotals } from '../../src/orchestrator/runs/run-totals.ts';
import { issue } from '../fake/issues.ts';
import { scratchStore } from '../fake/scratch-store.ts';
import { settings } from '../fake/settings.ts';
import { SimulatedClock } from '../fake/simulated-clock.ts';
import { seededClaims } from './seeded-claims.ts';

/** All that the gates can see, each part as a test wants it. */
async function world() {
  const clock = new SimulatedClock();
  const { claims, ...seed } = seededClaims({ store: await scratchStore(clock), clock, project: 'p' });
  const refusals: Partial<
    Record<
      'pause' | 'requests' | 'account' | 'headroom' | 'environment' | 'phase' | 'pool' | 'budget' | 'plan',
      SkipReason
    >
  > = {};
  const today = { tokens: 0, microUsd: 0 };
  const cleaning = new Set<string>();
  const totals = noTotals();
  const file = { problem: null as BatonError | null };
  const all = {
    ...settings({ agent: { maxClaimed: 2, maxInReview: 1 }, limits: { tokensPerDay: 1_000 } }),
    // A section with the name of a role is its budget.
    worker: { runsPerDay: 5 },
  };
  const workflow = {
    path: '',
    revision: '',
    settings: all,
    renderPrompt: () => '',
    promptOf: () => ({ version: 'v1', source: 'test' }),
    renderBranch: () => '',
  };
  const source = { read: () => ({ workflow, problem: file.problem }) };
  const candidates = new Candidates(source);
  candidates.countInReview([]);
  const phases = {
    isOn: true,
    roleOf: () => 'worker',
    agentOf: () => null,
    whyNot: () => refusals.phase ?? null,
    workOf: () => null,
    facts: () => refusals.phase,
    plans: {
      isOn: true,
      workOf: () => null,
      whyNot: () => refusals.plan ?? null,
      facts: () => refusals.plan,
    },
  } as unknown as Phases;
  // The gates ask no more than this of their parts.
  const parts = {
    claims,
    candidates,
    judges: new Judges({ source, phases, pullWatch: { open: new Map(), isRead: true } }),
    phases,
    source,
    totals,
    trial: { only: null, maxRuns: 1 },
    pool: { mayStart: () => refusals.pool ?? null },
    spending: { today: () => today, roles: { whyNone: () => refusals.budget ?? null } },
    pause: { whyPaused: () => refusals.pause ?? null },
    headroom: { whyNone: () => refusals.headroom ?? null },
    environment: { whyNone: () => refusals.environment ?? null },
    accounts: { whyNone: () => refusals.account ?? null },
    trackerFor: () => ({
      pressure: () => ({ step: refusals.requests === undefined ? 'none' : 'closed', text: '', until: null }),
    }),
    isCleaning: (id: string) => cleaning.has(id),
    cleaning: () => [...cleaning],
  } as unknown as GateParts;
  const gates = () => dispatchGates(parts, source.read());
  return {
    ...seed,
    candidates,
    cleaning,
    file,
    gates,
    refusals,
    today,
    totals,
    workflow,
    key: () => decisionKey(gates(), parts, source.read()),
  };
}

type World = Awaited<ReturnType<typeof world>>;
/** The gates of a decision; the limits of an issue itself are asked when its run begins. */
type DecidedGate = Exclude<OutsideGateName, 'own_limits'>;

/** What makes each gate refuse an issue that it let through. A new gate does not compile until it has its row. */
const obstacles: Record<DecidedGate, (world: World) => void> = {
  free_here: ({ hold }) => hold('1'),
  free_elsewhere: ({ elsewhere }) => elsewhere({ issueId: '1', host: 'there' }),
  workflow: ({ file }) => {
    file.problem = new BatonError('workflow_parse_error', 'no');
  },
  not_paused: ({ refusals }) => {
    refusals.pause = { code: 'paused', text: 'Baton is paused' };
  },
  day_limit: ({ today }) => {
    today.tokens = 2_000;
  },
  role_budget: ({ refusals }) => {
    refusals.budget = { code: 'role_budget', text: 'used up' };
  },
  headroom: ({ refusals }) => {
    refusals.headroom = { code: 'no_headroom', text: 'the disk is full' };
  },
  environment: ({ refusals }) => {
    refusals.environment = { code: 'environment', text: 'the repository is gone' };
  },
  requests_left: ({ refusals }) => {
    refusals.requests = { code: 'no_requests', text: 'none left' };
  },
  account_ready: ({ refusals }) => {
    refusals.account = { code: 'waiting_quota', text: 'no quota' };
  },
  review_limit: ({ candidates }) => candidates.countInReview([issue({ id: 'in-review' })]),
  claim_limit: ({ hold }) => {
    hold('8');
    hold('9');
  },
  plan: ({ refusals }) => {
    refusals.plan = { code: 'plan_pending', text: 'its plan is being written' };
  },
  pipeline: ({ refusals }) => {
    refusals.phase = { code: 'phase_pending', text: 'its phase is being decided' };
  },
  chosen: ({ totals }) => {
    totals.runs = 1;
  },
  slot_in_baton: ({ refusals }) => {
    refusals.pool = { code: 'global_full', text: 'all are taken' };
  },
};

describe('the inputs of a gate', () => {
  it.each(Object.keys(obstacles) as DecidedGate[])(
    'are declared with it, so that a change leads to a new decision: %s',
    async (name) => {
      const stage = await world();
      const answer = () => stage.gates()[name]?.refuse(issue({ id: '1' }), 0) ?? null;
      expect(answer()).toBeNull();
      const before = stage.key();
      const declared = JSON.stringify(stage.gates()[name]?.dependsOn);
      obstacles[name](stage);
      expect(answer()).not.toBeNull();
      expect(JSON.stringify(stage.gates()[name]?.dependsOn)).not.toBe(declared);
      expect(stage.key()).not.toBe(before);
    },
  );

  it('have a row here for every gate of a decision', async () => {
    expect(Object.keys((await world()).gates()).toSorted()).toEqual(Object.keys(obstacles).toSorted());
  });

  it('are unchanged while nothing changes', async () => {
    const stage = await world();
    stage.hold('8');
    expect(stage.key()).toBe(stage.key());
  });
});
