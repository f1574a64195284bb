import fc from 'fast-check';
import { expect, it } from 'vitest';
import { BatonError } from '../../src/core/baton-error.ts';
import type { Claim, ClaimChange, Hold, Retry, Running } from '../../src/orchestrator/claims/claim.ts';
import type { NextStep } from '../../src/orchestrator/claims/claim-writes.ts';
import { noStreaks } from '../../src/orchestrator/claims/issue-counters.ts';
import type { Store } from '../../src/store/store.ts';
import { scratchStore } from '../fake/scratch-store.ts';
import { settings } from '../fake/settings.ts';
import { SimulatedClock } from '../fake/simulated-clock.ts';
import { runs } from '../property-runs.ts';
import { storeThrough } from './faulty-store.ts';
import { type SeededClaims, seededClaims } from './seeded-claims.ts';

/*
 * The table in the header of claims.ts, walked: two daemons do whatever they like with two issues, at once and one after
 * the other, on a store that sometimes fails, with leases that sometimes expire. After every step: each claim is where the
 * table lets it be; an issue has one status; memory and store say the same about every issue that is ours; generations
 * have only grown; and every change was published, once, from where the one before it ended.
 */

const issueIds = ['1', '2'] as const;
const operations = [
  'begin',
  'settle to retry',
  'settle to hold',
  'settle to release',
  'hold',
  'release',
  'give back',
  'retry held',
  'postpone',
  'inherit',
  'renew',
  'reload',
  'lease expires',
  'restart',
] as const;
type Operation = (typeof operations)[number];
type Status = Claim['status'] | 'free';

/** Where an operation that is begun alone may lead, by where it begins; what is not named stays where it is. */
const table: Record<Exclude<Operation, 'restart' | 'lease expires'>, Partial<Record<Status, readonly Status[]>>> = {
  begin: { free: ['running', 'free'], retrying: ['running', 'retrying', 'free'] },
  'settle to retry': { running: ['retrying', 'held', 'free', 'running'] },
  'settle to hold': { running: ['held', 'free', 'running'] },
  'settle to release': { running: ['free', 'held', 'running'] },
  hold: { free: ['held', 'free'], retrying: ['held', 'retrying'], held: ['held'], running: ['running'] },
  release: { held: ['free', 'held'], running: ['running'] },
  'give back': { retrying: ['free', 'retrying'], held: ['free', 'held'], running: ['running'] },
  'retry held': { held: ['retrying', 'held'] },
  postpone: { retrying: ['retrying'] },
  inherit: { free: ['free', 'retrying', 'held'] },
  renew: { retrying: ['retrying', 'free'], held: ['held', 'free'], running: ['running'] },
  reload: { retrying: ['retrying', 'free'], held: ['held', 'free'], running: ['running'] },
};

/** At most so many changes an operation publishes about its issue; one where none is named. */
const mostChanges: Partial<Record<Operation, number>> = {
  // Running while its start is written, and then begun or not.
  begin: 2,
  // Inheriting, with its generation raised, and what follows.
  inherit: 3,
};
const leaseMs = 60_000;

const workflow = {
  path: '',
  revision: '',
  settings: settings(),
  renderPrompt: () => '',
  promptOf: () => ({ version: 'v1', source: 'test' }),
  renderBranch: () => '',
};

interface Daemon {
  seeded: SeededClaims;
  readonly name: string;
  /** The changes it has published since its last start. */
  changes: ClaimChange[];
}

class World {
  readonly clock = new SimulatedClock();
  readonly daemons: Daemon[] = [];
  isBroken = false;
  project = '';
  #runs = 0;
  /** The generation under which each run was started; a reload raises that of its claim. */
  readonly #startedUnder = new Map<string, number>();
  readonly #generations = new Map<string, number>();

  readonly store: Store;

  private constructor(store: Store) {
    this.store = store;
  }

  /** Worlds share a store, each with a project of its own. */
  static async create(store: Store, name: string): Promise<World> {
    const world = new World(store);
    world.project = (await store.projects.ensure(name, 0)).id;
    for (const name of ['one', 'two']) world.daemons.push(world.daemon(name));
    return world;
  }

  daemon(name: string): Daemon {
    const daemon: Daemon = { name, seeded: this.claimsOf(name), changes: [] };
    daemon.seeded.claims.onChange((change) => void daemon.changes.push(change));
    return daemon;
  }

  claimsOf(owner: string): SeededClaims {
    const store = storeThrough(this.store, {
      before: () => {
        if (this.isBroken) throw new BatonError('store_unavailable', 'gone');
      },
    });
    return seededClaims({ store, clock: this.clock, project: this.project }, { owner, isShared: true });
  }

  /** Does one operation; what it refuses or cannot write is part of the game. */
  async play(daemon: Daemon, id: string, operation: Operation): Promise<void> {
    const { claims } = daemon.seeded;
    const claim = claims.get(id);
    try {
      if (operation === 'restart') Object.assign(daemon, this.daemon(daemon.name));
      else if (operation === 'lease expires') await this.clock.advance(leaseMs + 1);
      else if (operation === 'begin') await this.begin(daemon, id);
      else if (operation.startsWith('settle') && claim?.status === 'running')
        await this.settle(daemon, claim, operation);
      else if (operation === 'hold') await claims.hold(this.holdOf(id));
      else if (operation === 'release') await claims.release(id, { byPerson: true });
      else if (operation === 'give back' && claim !== undefined)
        await claims.release(id, { byPerson: false, only: claim });
      else if (operation === 'retry held')
        await claims.retryHeld(id, { kind: 'answered', recovery: null, attempt: 1, agent: null }, { byPerson: false });
      else if (operation === 'postpone' && claim?.status === 'retrying') claims.postpone(claim, { delayMs: 10 });
      else if (operation === 'inherit') await this.inherit(daemon, id);
      else if (operation === 'renew') (await claims.renew(leaseMs)).forEach((lost) => void claims.lose(lost));
      else if (operation === 'reload') await claims.reload();
    } catch (error) {
      if (!(error instanceof BatonError) || !['claim_lost', 'store_unavailable'].includes(error.code)) throw error;
    }
  }

  async begin({ seeded }: Daemon, id: string): Promise<void> {
    const { claims, run } = seeded;
    const claim = claims.get(id);
    const isFree = claim === undefined || claim.status === 'retrying';
    if (!isFree || claims.isChanging(id)) return;
    this.#runs += 1;
    const { runId, generation } = await run(id, workflow, `${this.project}-${this.#runs}`);
    this.#startedUnder.set(runId, generation ?? 0);
  }

  async settle({ seeded }: Daemon, running: Running, operation: Operation): Promise<void> {
    const { issue, runId } = running;
    const next: NextStep =
      operation === 'settle to retry'
        ? { action: 'retry', retry: this.retryOf(issue.id) }
        : operation === 'settle to hold'
          ? { action: 'hold', hold: this.holdOf(issue.id) }
          : { action: 'release' };
    const held = running.holdAfterwards;
    const step: NextStep =
      held === null ? next : { action: 'hold', hold: { ...this.holdOf(issue.id), ...held, runId } };
    await seeded.claims.settle(running, {
      runGeneration: this.#startedUnder.get(runId) ?? 0,
      end: { endedAt: this.clock.now(), outcome: 'succeeded', errorCode: null, errorMessage: null },
      wallMs: 1,
      decide: () => ({ step, streaks: noStreaks }),
      writeNotes: async () => {},
    });
  }

  async inherit({ seeded }: Daemon, id: string): Promise<void> {
    await seeded.claims.inherit(id, async ({ hold, retry }) => ({
      hold,
      retry: retry ?? this.retryOf(id),
      delayMs: 1,
      end: { endedAt: this.clock.now(), outcome: 'interrupted', errorCode: null, errorMessage: null },
    }));
  }

  holdOf(id: string): Hold {
    return { issue: { id, identifier: `T-${id}` }, code: 'person', reason: 'why', since: 0, runId: null };
  }

  retryOf(id: string): Retry {
    const issue = { id, identifier: `T-${id}`, url: null };
    const facts = { attempt: 1, failures: 0, staleRuns: 0, recovery: null, agent: null, error: null };
    return { issue, kind: 'continuation', ...facts, dueAt: this.clock.now() + 1_000 };
  }

  status({ seeded }: Daemon, id: string): Status {
    return seeded.claims.get(id)?.status ?? 'free';
  }

  async checkGeneration(id: string): Promise<void> {
    const generation = await this.store.claims.generation({ project: this.project, issueId: id });
    expect(generation, `${id}: a generation only grows`).toBeGreaterThanOrEqual(this.#generations.get(id) ?? 0);
    this.#generations.set(id, generation);
    for (const { seeded } of this.daemons)
      expect(seeded.claims.get(id)?.generation ?? 0, `${id}: no one invents a generation`).toBeLessThanOrEqual(
        generation,
      );
  }

  /** What is in the store about each issue is what its owner has in memory, and only the owner has it. */
  async check(): Promise<void> {
    for (const daemon of this.daemons) checkMemory(daemon);
    const { claims, retries, held, unfinishedRuns } = await this.store.recovery(this.project, this.clock.now());
    for (const id of issueIds) {
      await this.checkGeneration(id);
      const isThis = ({ issueId }: { readonly issueId: string }): boolean => issueId === id;
      const row = claims.find(isThis);
      const owners = this.daemons.filter(({ name, seeded }) => {
        const generation = seeded.claims.get(id)?.generation ?? null;
        return generation !== null && row?.owner === name && row.generation === generation;
      });
      expect(owners.length, `${id} has one owner at most`).toBeLessThanOrEqual(1);
      const [owner] = owners;
      if (owner === undefined) continue;
      const claim = owner.seeded.claims.get(id) ?? expect.fail('no claim');
      const stored = {
        run: unfinishedRuns.some(isThis),
        retry: retries.some(isThis),
        hold: held.some(isThis),
      };
      if (claim.status === 'running') {
        expect(stored, id).toMatchObject({ run: true, retry: false });
        // The other way round a hold that could not be written is only in memory, and the end of the run writes it.
        if (stored.hold) expect(claim.holdAfterwards, id).not.toBeNull();
      }
      if (claim.status === 'retrying') expect(stored, id).toEqual({ run: false, retry: true, hold: false });
      if (claim.status === 'held') expect(stored, id).toEqual({ run: false, retry: false, hold: true });
      expect(owner.seeded.claims.isChanging(id), 'nothing is left locked').toBe(false);
    }
  }
}

/** An issue has one status, and every change of it was published, from where the one before ended. */
function checkMemory({ seeded, changes }: Daemon): void {
  const { running, retrying, held: onHold, all } = seeded.claims;
  for (const id of issueIds) {
    const status = all.get(id)?.status;
    const maps = { running: running.has(id), retrying: retrying.has(id), held: onHold.has(id) };
    expect(maps, `${id} has one status`).toEqual({
      running: status === 'running',
      retrying: status === 'retrying',
      held: status === 'held',
    });
    let published: Claim | null = null;
    for (const { before, after } of changes.filter(({ issueId }) => issueId === id)) {
      expect(before, `${id}: no change is missing`).toBe(published);
      published = after;
    }
    expect(all.get(id) ?? null, `${id}: every change is published`).toBe(published);
  }
}

const anyStep = fc.record({
  who: fc.constantFrom(0, 1),
  id: fc.constantFrom(...issueIds),
  operation: fc.constantFrom(...operations),
  /** The store fails meanwhile. */
  isBroken: fc.constantFrom(false, false, false, false, true),
  /** A second operation on the same issue by the same daemon, called before the first is over. */
  besides: fc.option(fc.constantFrom<Operation>('hold', 'release', 'give back', 'retry held', 'postpone'), {
    nil: null,
    freq: 3,
  }),
});

it('any sequence of operations on claims stays within the table, and memory and store agree', async () => {
  const store = await scratchStore(new SimulatedClock());
  let worlds = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep, { minLength: 1, maxLength: 25 }), async (steps) => {
      worlds += 1;
      const world = await World.create(store, `world-${worlds}`);
      for (const { who, id, operation, isBroken, besides } of steps) {
        const daemon = world.daemons[who] ?? expect.fail('no daemon');
        const before = world.status(daemon, id);
        const changesBefore = daemon.changes.length;
        world.isBroken = isBroken;
        const first = world.play(daemon, id, operation);
        const second = besides === null ? null : world.play(daemon, id, besides);
        await Promise.all([first, second]);
        world.isBroken = false;
        if (operation !== 'restart' && operation !== 'lease expires' && besides === null) {
          const allowed = table[operation][before] ?? [before];
          expect([...allowed, before], `${operation} from ${before}`).toContain(world.status(daemon, id));
          const published = daemon.changes.slice(changesBefore).filter(({ issueId }) => issueId === id);
          expect(published.length, `${operation} from ${before}`).toBeLessThanOrEqual(mostChanges[operation] ?? 1);
        }
        await world.check();
      }
    }),
    { numRuns: runs(300) },
  );
});
