// @module-tag full
import { describe, expect, it } from 'vitest';
import { BatonError } from '../../../src/core/baton-error.ts';
import { labelsOf } from '../../../src/core/pipeline/phase-labels.ts';
import type { Settings } from '../../../src/core/settings.ts';
import { issue } from '../../fake/issues.ts';
import { SimulatedClock } from '../../fake/simulated-clock.ts';
import { type Between, storeThrough } from '../faulty-store.ts';
import { begun, type Scene, type SceneOptions } from '../scene.ts';
import {
  bad,
  claimsOf,
  complete,
  good,
  judge,
  labelsIn,
  minute,
  onlyResearch,
  recordOf,
  second,
  worksOf,
} from './pipeline-scene.ts';

/** One transition: how a run ends, and what must follow from it, whatever fails on the way. */
interface Transition {
  readonly settings: Settings;
  /** The runs before the one whose end is examined. */
  readonly before: readonly ((stage: Scene) => Promise<void>)[];
  readonly end: (stage: Scene) => Promise<void>;
  readonly claims: readonly string[];
  readonly record: { readonly phase: string; readonly revisions: number };
  /** The work that starts next; null: a person is asked. */
  readonly next: string | null;
}

/** The agent calls `complete_phase` again when that failed, as agents do. */
const ends =
  (text: string) =>
  async (stage: Scene): Promise<void> => {
    const run = stage.runs.at(-1);
    await complete(run, text).catch(() => complete(run, text).catch(() => []));
    run?.succeed();
  };
const judges =
  (verdict: 'approved' | 'rejected') =>
  async (stage: Scene): Promise<void> =>
    judge(stage.runs.at(-1), verdict);

/** Polled so rarely that ticks alone do what is to be done. */
const calm = (settings: Settings): Settings => ({
  ...settings,
  polling: { ...settings.polling, intervalMs: 10 * minute },
});
const judged = calm(onlyResearch({ validation: 'judge' }));
const transitions: Readonly<Record<string, Transition>> = {
  'an advance': {
    settings: calm(onlyResearch()),
    before: [],
    end: ends(good),
    claims: ['research advanced'],
    record: { phase: 'ready', revisions: 0 },
    next: 'work',
  },
  'a revision': {
    settings: calm(onlyResearch()),
    before: [],
    end: ends(bad),
    claims: ['research revise'],
    record: { phase: 'research', revisions: 1 },
    next: 'research',
  },
  'a hold for a person': {
    settings: calm(onlyResearch({}, { maxRevisions: 0 })),
    before: [],
    end: ends(bad),
    claims: ['research person'],
    record: { phase: 'research', revisions: 0 },
    next: null,
  },
  'a wait for a judge': {
    settings: judged,
    before: [],
    end: ends(good),
    claims: ['research judging'],
    record: { phase: 'research', revisions: 0 },
    next: 'judge of research',
  },
  'an approval': {
    settings: judged,
    before: [ends(good)],
    end: judges('approved'),
    claims: ['research advanced'],
    record: { phase: 'ready', revisions: 0 },
    next: 'work',
  },
  'a rejection': {
    settings: judged,
    before: [ends(good)],
    end: judges('rejected'),
    claims: ['research revise'],
    record: { phase: 'research', revisions: 1 },
    next: 'research',
  },
};

type Fault = 'lost before' | 'lost after' | 'killed before' | 'killed after';
const faults: readonly Fault[] = ['lost before', 'lost after', 'killed before', 'killed after'];

/** A store that fails at one call, counted from the moment it is armed; a killed daemon reaches it no more. */
class FaultAt {
  calls = 0;
  #isArmed = false;
  #isDead = false;
  kill: () => void = () => {};
  readonly #at: number;
  readonly #fault: Fault | null;

  constructor(at: number, fault: Fault | null) {
    this.#at = at;
    this.#fault = fault;
  }

  arm(): void {
    this.#isArmed = true;
  }

  disarm(): void {
    this.#isArmed = false;
  }

  readonly between: Between = {
    before: () => {
      if (this.#isDead) throw new BatonError('store_busy', 'dead');
      if (!this.#isArmed) return;
      this.calls += 1;
      this.#failIf('before');
    },
    after: () => {
      if (this.#isArmed) this.#failIf('after');
    },
  };

  #failIf(when: 'before' | 'after'): void {
    if (this.calls !== this.#at || this.#fault?.endsWith(when) !== true) return;
    this.#isArmed = false;
    if (this.#fault.startsWith('killed')) {
      this.#isDead = true;
      this.kill();
    }
    throw new BatonError('store_busy', 'busy');
  }
}

/** Plays the transition with a fault at this call; returns how many calls there were until the next start. */
async function play(transition: Transition, at: number, fault: Fault | null): Promise<number> {
  const { settings, before, end } = transition;
  const store = new FaultAt(at, fault);
  const options: SceneOptions = { issues: [issue({ id: '1' })], settings };
  const stage = await begun({
    ...options,
    clock: new SimulatedClock(),
    through: (real) => storeThrough(real, store.between),
  });
  store.kill = stage.kill;
  for (const earlier of before) {
    await earlier(stage);
    await stage.clock.advance(20 * second);
  }
  const played = stage.runs.length;
  const claimsBefore = await claimsOf(stage);
  store.arm();
  await end(stage);
  await stage.clock.advance(12 * second);
  store.disarm();
  const lives = [stage];
  let repeated = 0;
  if (fault?.startsWith('killed')) {
    const { clock, tracker } = stage;
    const isUnsaid = (await claimsOf(stage)).join() === claimsBefore.join();
    const next = await begun({ ...options, store: stage.store, clock, tracker });
    await clock.advance(12 * second);
    lives.push(next);
    // What the agent or the judge said died with the daemon: the run is made again, and says it again.
    if (isUnsaid) {
      repeated = next.runs.length;
      await end(next);
    }
  }
  // One tick to decide, one for the labels, and the wait after a label that was not written.
  await stage.clock.advance(20 * second);
  await examine(transition, lives, played + repeated);
  return store.calls;
}

async function examine(transition: Transition, lives: readonly Scene[], played: number): Promise<void> {
  const [first] = lives;
  const last = lives.at(-1);
  if (first === undefined || last === undefined) throw new Error('no daemon');
  const claims = (await claimsOf(first)).filter((claim) => !claim.endsWith('replaced'));
  const record = await recordOf(first);
  expect([claims, record]).toMatchObject([transition.claims, transition.record]);
  expect(labelsIn(first).toSorted()).toEqual(record === null ? [] : labelsOf(record).toSorted());
  const { held, running } = last.orchestrator.read();
  const started = lives.flatMap((life) => worksOf(life)).slice(played);
  if (transition.next === null) {
    expect([held.map(({ code }) => code), started, running.length]).toEqual([['revisions_exhausted'], [], 0]);
    return;
  }
  // As after a run that completed nothing.
  expect(first.runs.at(-1)?.request.retryKind).not.toBe('continuation');
  // A start that was lost with its daemon is made again.
  expect(new Set(started)).toEqual(new Set([transition.next]));
  expect([held, running.length]).toEqual([[], 1]);
  expect(started.length).toBeLessThanOrEqual(lives.length);
}

describe.each(Object.entries(transitions))('%s', (_name, transition) => {
  // @conforms 4.122
  it.each(faults)(
    'is made exactly once, whichever call of the store is %s',
    { timeout: 20 * minute },
    async (fault) => {
      const calls = await play(transition, 0, null);
      expect(calls).toBeGreaterThan(10);
      for (let at = 1; at <= calls; at += 1) {
        try {
          await play(transition, at, fault);
        } catch (error) {
          throw new Error(`at call ${at} of ${calls}`, { cause: error });
        }
      }
    },
  );
});
