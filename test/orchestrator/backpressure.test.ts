import { describe, expect, it } from 'vitest';
import { planDispatch } from '../../src/core/dispatch/dispatch-plan.ts';
import type { Settings } from '../../src/core/settings.ts';
import { dispatchGates, type GateParts } from '../../src/orchestrator/dispatch/gates.ts';
import { whyNothingStarts } from '../../src/orchestrator/dispatch/why-nothing-starts.ts';
import { Phases } from '../../src/orchestrator/pipeline/phases.ts';
import { Candidates } from '../../src/orchestrator/poll/candidates.ts';
import { Judges } from '../../src/orchestrator/review/judges.ts';
import { noTotals } from '../../src/orchestrator/runs/run-totals.ts';
import { Spending } from '../../src/orchestrator/runs/spending.ts';
import { issue } from '../fake/issues.ts';
import { scratchStore } from '../fake/scratch-store.ts';
import { settings } from '../fake/settings.ts';
import { SimulatedClock } from '../fake/simulated-clock.ts';
import { telling } from '../telling.ts';
import { begun, besides, scene } from './scene.ts';
import { seededClaims } from './seeded-claims.ts';

const issues = (...ids: string[]) => ids.map((id, createdAt) => issue({ id, createdAt }));
const atMost = (maxClaimed: number, agent: Partial<Settings['agent']> = {}) =>
  settings({ intervalMs: 100, agent: { maxClaimed, ...agent } });

describe('agent.max_claimed', () => {
  // @conforms cadence.26
  it('starts up to the limit and gives the other issues a reason', async () => {
    const stage = await begun({ issues: issues('1', '2', '3', '4'), settings: atMost(2) });
    await stage.clock.advance(5_000);
    expect(stage.started()).toEqual(['1', '2']);
    const why = { code: 'max_claimed', text: telling('agent.max_claimed', 2) };
    expect(stage.orchestrator.read().skipped.map(({ issue: { id }, reason }) => [id, reason])).toEqual([
      ['3', why],
      ['4', why],
    ]);
  });

  // @conforms cadence.27
  it('counts issues that wait for a retry, lets them continue, and starts the next when a claim ends', async () => {
    const stage = await begun({ issues: issues('1', '2', '3'), settings: atMost(2) });
    stage.runs[0]?.fail();
    await stage.clock.advance(5_000);
    // It waits for its retry; its slot is free and its claim is not.
    expect(stage.started()).toEqual(['1', '2']);
    await stage.clock.advance(10_000);
    expect(stage.started()).toEqual(['1', '2', '1']);
    stage.tracker.put(issue({ id: '1', state: 'Done' }));
    await stage.clock.advance(200);
    stage.runs[2]?.end();
    await stage.clock.advance(200);
    expect(stage.started()).toEqual(['1', '2', '1', '3']);
  });

  it('counts held issues', async () => {
    const stage = await begun({ issues: issues('1', '2'), settings: atMost(1) });
    stage.runs[0]?.fail('agent_input_required');
    await stage.clock.advance(20_000);
    expect(stage.orchestrator.read().held).toHaveLength(1);
    expect(stage.started()).toEqual(['1']);
  });

  it('stops no claim from before a restart, although there are more than the limit', async () => {
    const first = await begun({ issues: issues('1', '2', '3', '4'), settings: atMost(0, { maxConcurrentAgents: 3 }) });
    expect(first.started()).toEqual(['1', '2', '3']);
    first.kill();
    const { store, clock, tracker } = first;
    const stage = await begun({ store, clock, tracker, settings: atMost(1) });
    await clock.advance(10_000);
    expect(stage.started().toSorted()).toEqual(['1', '2', '3']);
    expect(stage.orchestrator.read().skipped).toMatchObject([
      { issue: { id: '4' }, reason: { code: 'max_claimed', text: telling(3, 'agent.max_claimed', 1) } },
    ]);
  });

  it('counts the claims of other daemons on the store', async () => {
    const one = await scene({ issues: issues('1', '2', '3'), settings: atMost(2), owner: 'one', isShared: true });
    await one.orchestrator.start();
    await one.clock.advance(0);
    const other = await besides(one, { settings: atMost(2) });
    await other.orchestrator.start();
    await one.clock.advance(5_000);
    expect([one.started(), other.started()]).toEqual([['1', '2'], []]);
    expect(other.orchestrator.read().skipped).toMatchObject([
      { reason: { code: 'claimed_elsewhere' } },
      { reason: { code: 'claimed_elsewhere' } },
      { reason: { code: 'max_claimed', text: telling('agent.max_claimed', 2) } },
    ]);
  });

  it('is explained gate by gate, and never for an issue that has a claim', async () => {
    const stage = await begun({ issues: issues('1', '2'), settings: atMost(1) });
    const free = await stage.orchestrator.explain('2');
    const codes = free.gates.flatMap(({ gate, refusal }) => (refusal === null ? [] : [[gate, refusal.code]]));
    expect(codes).toEqual([['claim_limit', 'max_claimed']]);
    expect(free).toMatchObject({ nextCode: 'waits', next: telling('agent.max_claimed', 1) });
    stage.runs[0]?.fail();
    await stage.clock.advance(0);
    const retrying = await stage.orchestrator.explain('1');
    expect(retrying.nextCode).toBe('retry_scheduled');
    expect(retrying.gates.find(({ gate }) => gate === 'claim_limit')?.refusal).toBeNull();
  });
});

describe('agent.max_in_review', () => {
  /** The gates as the orchestrator makes them, with this many in review. */
  const decided = async (inReview: number | null, maxInReview: number, claimed: readonly string[] = []) => {
    const clock = new SimulatedClock();
    const store = await scratchStore(clock);
    const { claims, hold } = seededClaims({ store, clock, project: 'p' });
    for (const id of claimed) hold(id);
    const all = settings({ agent: { maxInReview } });
    const workflow = {
      path: '',
      revision: '',
      settings: all,
      renderPrompt: () => '',
      promptOf: () => ({ version: 'v1', source: 'test' }),
      renderBranch: () => '',
    };
    const reading = { workflow, problem: null };
    const source = { read: () => reading };
    const candidates = new Candidates(source);
    const inReviewNow = Array.from({ length: inReview ?? 0 }, (_, index) => issue({ id: `review-${index}` }));
    candidates.countInReview(inReview === null ? null : inReviewNow);
    const phases = new Phases({ source, store, project: 'p', notify: () => {} });
    // What is asked of the others is that they have nothing against it.
    const parts = {
      claims,
      candidates,
      judges: new Judges({ source, phases, pullWatch: { open: new Map(), isRead: true } }),
      phases,
      source,
      pool: null,
      trial: null,
      totals: noTotals(),
      spending: new Spending({ claims, store, clock, source, project: 'p' }),
      pause: { whyPaused: () => null },
      headroom: { whyNone: () => null },
      environment: { whyNone: () => null },
      accounts: { whyNone: () => null },
      isCleaning: () => false,
      cleaning: () => [],
    } as unknown as GateParts;
    const plan = planDispatch({
      issues: issues('1', '2'),
      settings: all,
      taken: [],
      startMove: undefined,
      outside: dispatchGates(parts, reading),
    });
    return { parts, codes: plan.map(({ reason }) => reason?.code ?? 'starts') };
  };

  it('refuses every new claim while the limit is reached, and before the issues were counted', async () => {
    expect((await decided(4, 5)).codes).toEqual(['starts', 'starts']);
    expect((await decided(5, 5)).codes).toEqual(['max_in_review', 'max_in_review']);
    expect((await decided(null, 5)).codes).toEqual(['max_in_review', 'max_in_review']);
    expect((await decided(null, 0)).codes).toEqual(['starts', 'starts']);
  });

  it('does not affect a claimed issue or a retry', async () => {
    const { codes, parts } = await decided(9, 5, ['1']);
    expect(codes).toEqual(['claimed', 'max_in_review']);
    expect(whyNothingStarts(parts, issue({ id: '1' }), 'worker', null)).toBeNull();
  });

  it('starts nothing before the first answer of the tracker', async () => {
    const all = settings({ intervalMs: 100, agent: { maxInReview: 1 }, tracker: { reviewStates: ['Backlog'] } });
    const stage = await scene({ issues: issues('1'), settings: all });
    stage.tracker.fetchByStates = () => new Promise(() => {});
    await stage.orchestrator.start();
    await stage.clock.advance(1_000);
    expect(stage.started()).toEqual([]);
  });
});
