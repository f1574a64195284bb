import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { ClaimHolder } from '../../src/store/claims.ts';
import type { CommandDraft } from '../../src/store/commands.ts';
import type { IssueKey } from '../../src/store/issue-key.ts';
import type { Retry } from '../../src/store/retries.ts';
import { onEngine, project, type StoreEngine } from './store.ts';

/** What scheduling remembers: projects, claims, retries, held, counters, job timers, commands. */
export function schedulingConformance(engine: StoreEngine): void {
  const key = { project, issueId: 'i1' };
  const elsewhere = { project: 'beta', issueId: 'i1' };

  onEngine(engine, 'keeps projects', ({ open, place }) => {
    it('gives a name the same id always, and another name another', async () => {
      const where = await place();
      const { projects } = await open(where);
      const made = await projects.ensure('My Project', 5);
      expect(made).toMatchObject({ name: 'My Project', createdAt: 5 });
      expect(await (await open(where)).projects.ensure('My Project', 9)).toEqual(made);
      const others = await Promise.all(
        ['my project', 'my-project', 'ünï', '漢字'].map((name) => projects.ensure(name, 1)),
      );
      expect(new Set([made, ...others].map(({ id }) => id)).size).toBe(5);
      expect(await projects.list()).toHaveLength(5);
      expect((await projects.ensure('plain-word', 1)).id).toBe('plain-word');
    });
  });

  onEngine(engine, 'keeps claims', ({ open, place }) => {
    const long = { at: 1_000, leaseMs: 3_600_000 };
    const over = { at: 1_000, leaseMs: -1 };

    it('gives a free claim to one, and to nobody else until it is given back', async () => {
      const { claims } = await open();
      const mine = await claims.take(key, { owner: 'me', ...long });
      expect(mine).toMatchObject({ ...key, owner: 'me', generation: 1 });
      expect(await claims.take(key, { owner: 'you', ...long })).toBeNull();
      expect(await claims.take(key, { owner: 'me', ...long })).toBeNull();
      expect(await claims.take(elsewhere, { owner: 'you', ...long })).toMatchObject({ generation: 1 });
      expect(await claims.read(key)).toEqual(mine);
      expect(await claims.release(key, { owner: 'me', generation: 1 })).toBe(true);
      expect(await claims.read(key)).toBeNull();
      expect(await claims.take(key, { owner: 'you', ...long })).toMatchObject({ owner: 'you', generation: 2 });
    });

    it('lets an expired claim be taken, after which its holder can do nothing with it', async () => {
      const { claims } = await open();
      await claims.take(key, { owner: 'me', ...over });
      expect(await claims.held(project)).toMatchObject([{ owner: 'me', generation: 1 }]);
      expect(await claims.take(key, { owner: 'you', ...long })).toMatchObject({ owner: 'you', generation: 2 });
      expect(await claims.renew(key, { owner: 'me', generation: 1 }, long)).toBe(false);
      expect(await claims.release(key, { owner: 'me', generation: 1 })).toBe(false);
      expect(await claims.read(key)).toMatchObject({ owner: 'you', generation: 2 });
    });

    it('renews only for the holder of the generation, also after expiry while nobody took it', async () => {
      const { claims } = await open();
      await claims.take(key, { owner: 'me', ...over });
      expect(await claims.renew(key, { owner: 'you', generation: 1 }, long)).toBe(false);
      expect(await claims.renew(key, { owner: 'me', generation: 2 }, long)).toBe(false);
      expect(await claims.renew(key, { owner: 'me', generation: 1 }, long)).toBe(true);
      expect(await claims.take(key, { owner: 'you', ...long })).toBeNull();
      expect(await claims.release(key, { owner: 'me', generation: 1 })).toBe(true);
      expect(await claims.renew(key, { owner: 'me', generation: 1 }, long)).toBe(false);
      expect(await claims.release(key, { owner: 'me', generation: 1 })).toBe(false);
    });

    it('measures leases with the clock that counts: its own machine, or the one server of many', async () => {
      const { claims } = await open();
      const claim = await claims.take(key, { owner: 'me', at: 5_000, leaseMs: 1_000 });
      expect((claim?.leaseUntil ?? 0) - (claim?.claimedAt ?? 0)).toBe(1_000);
      if (engine.name === 'sqlite') expect(claim?.claimedAt).toBe(5_000);
      // Far from every caller's 1970: a machine with a wrong clock can take nobody's claim away.
      else expect(claim?.claimedAt).toBeGreaterThan(Date.UTC(2026, 0));
    });

    it('lets exactly one of many win, on several stores at once, round after round', async () => {
      const where = await place();
      const stores = await Promise.all([open(where), open(where), open(where)]);
      let generation = 0;
      for (let round = 0; round < 12; round++) {
        const taken = await Promise.all(
          Array.from({ length: 9 }, (_, index) =>
            stores[index % 3]?.claims.take(key, { owner: `${index}`, at: round, leaseMs: round % 2 ? -1 : 1_000_000 }),
          ),
        );
        // An expired lease may change hands many times in a round; a live one goes to one.
        const winners = taken.filter((claim) => claim !== null && claim !== undefined);
        if (round % 2 === 0) expect(winners).toHaveLength(1);
        const generations = winners.map((claim) => claim.generation).toSorted((a, b) => a - b);
        expect(new Set(generations).size).toBe(generations.length);
        expect(generations[0]).toBe(generation + 1);
        generation = generations.at(-1) ?? generation;
        const holder = await stores[0]?.claims.read(key);
        if (holder) expect(await stores[1]?.claims.release(key, holder)).toBe(true);
      }
    });

    it('never lets a generation fall or stand, whatever is done in whatever order', async () => {
      const store = await open();
      const act = fc.record({
        act: fc.constantFrom('take', 'take-short', 'renew', 'release'),
        owner: fc.constantFrom('a', 'b'),
        generation: fc.nat(6),
      });
      const { claims } = store;
      const acts = {
        renew: async (one: IssueKey, holder: ClaimHolder) => void (await claims.renew(one, holder, long)),
        release: async (one: IssueKey, holder: ClaimHolder) => void (await claims.release(one, holder)),
        take: (one: IssueKey, { owner }: ClaimHolder) => claims.take(one, { owner, ...long }),
        'take-short': (one: IssueKey, { owner }: ClaimHolder) => claims.take(one, { owner, ...over }),
      } as const;
      const property = fc.asyncProperty(fc.array(act, { maxLength: 25 }), fc.uuid(), async (list, issueId) => {
        let last = 0;
        for (const { act: what, ...holder } of list) {
          const claim = await acts[what]({ project, issueId }, holder);
          if (claim) expect(claim.generation).toBe(++last);
        }
      });
      await fc.assert(property, { numRuns: 20 });
    });
  });

  onEngine(engine, 'keeps retries, held issues, counters and timers', ({ open }) => {
    const retry: Retry = {
      ...key,
      identifier: 'BAT-1',
      kind: 'failure',
      attempt: 2,
      failures: 1,
      dueAt: 50,
      error: 'agent_exited',
      slotWaits: 0,
    };

    it('has one retry an issue, by due time', async () => {
      const { retries } = await open();
      await retries.put(retry);
      await retries.put({ ...retry, issueId: 'i2', dueAt: 20, error: null, kind: 'continuation' });
      await retries.put({ ...retry, ...elsewhere });
      await retries.put({ ...retry, dueAt: 10, slotWaits: 3 });
      expect(await retries.list(project)).toEqual([
        { ...retry, dueAt: 10, slotWaits: 3 },
        { ...retry, issueId: 'i2', dueAt: 20, error: null, kind: 'continuation' },
      ]);
      expect(await retries.remove(key)).toBe(true);
      expect(await retries.remove(key)).toBe(false);
      expect(await retries.list('beta')).toHaveLength(1);
    });

    it('has one held entry an issue', async () => {
      const { held } = await open();
      const entry = { ...key, identifier: 'BAT-1', code: 'person', reason: 'asked to', since: 5, runId: null };
      await held.put(entry);
      await held.put({ ...entry, code: 'agent_survives', runId: 'r1' });
      await held.put({ ...entry, ...elsewhere });
      expect(await held.list(project)).toEqual([{ ...entry, code: 'agent_survives', runId: 'r1' }]);
      expect(await held.remove(key)).toBe(true);
      expect(await held.remove(key)).toBe(false);
    });

    it('adds to counters without losing any, and sets them', async () => {
      const { counters } = await open();
      await Promise.all(Array.from({ length: 20 }, () => counters.add(key, 'failures', 1)));
      expect(await counters.add(key, 'failures', -3)).toBe(17);
      await counters.set(key, 'failures', 0);
      await counters.set(key, 'other', 4);
      await counters.add(elsewhere, 'failures', 9);
      expect(await counters.read(key)).toEqual({ failures: 0, other: 4 });
      expect(await counters.list(project)).toEqual([
        { ...key, name: 'failures', value: 0 },
        { ...key, name: 'other', value: 4 },
      ]);
    });

    it('sorts names by code point, whatever the language of the machine or the server', async () => {
      const { counters } = await open();
      const names = ['b', 'A', 'a', '_', 'Z', 'é', 'BAT-9', 'BAT-10'];
      for (const issueId of names) await counters.set({ project, issueId }, 'n', 1);
      const sorted = ['A', 'BAT-10', 'BAT-9', 'Z', '_', 'a', 'b', 'é'];
      expect((await counters.list(project)).map(({ issueId }) => issueId)).toEqual(sorted);
    });

    it('keeps when each job ran and is due', async () => {
      const { jobTimers } = await open();
      await jobTimers.put({ project, job: 'scan', lastRunAt: null, nextDueAt: 5 });
      await jobTimers.put({ project, job: 'scan', lastRunAt: 5, nextDueAt: 9 });
      await jobTimers.put({ project, job: 'prune', lastRunAt: 1, nextDueAt: 2 });
      expect(await jobTimers.list(project)).toEqual([
        { project, job: 'prune', lastRunAt: 1, nextDueAt: 2 },
        { project, job: 'scan', lastRunAt: 5, nextDueAt: 9 },
      ]);
      expect(await jobTimers.list('beta')).toEqual([]);
    });
  });

  onEngine(engine, 'keeps commands', ({ open }) => {
    const command = (id: string, over: Partial<CommandDraft> = {}): CommandDraft => ({
      id,
      project,
      kind: 'pause',
      payload: {},
      author: { kind: 'person', name: 'Ada' },
      at: 1,
      key: null,
      ...over,
    });

    it('gives what waits, oldest first, until it has a result', async () => {
      const { commands } = await open();
      const { command: first, created } = await commands.submit(command('c1', { payload: { issue: ['BAT-1', null] } }));
      expect(created).toBe(true);
      expect(first).toEqual({
        ...command('c1', { payload: { issue: ['BAT-1', null] } }),
        seq: first.seq,
        result: null,
      });
      await commands.submit(command('c2'));
      await commands.submit(command('other', { project: 'beta' }));
      expect((await commands.waiting(project, 9)).map(({ id }) => id)).toEqual(['c1', 'c2']);
      expect((await commands.waiting(project, 1)).map(({ id }) => id)).toEqual(['c1']);
      const result = { at: 5, status: 'refused', text: 'There is no such issue.' } as const;
      expect(await commands.finish('c1', result)).toBe(true);
      expect(await commands.finish('c1', { ...result, status: 'done' })).toBe(false);
      expect(await commands.finish('no', result)).toBe(false);
      expect(await commands.read('c1')).toEqual({ ...first, result });
      expect(await commands.read('no')).toBeNull();
      expect((await commands.waiting(project, 9)).map(({ id }) => id)).toEqual(['c2']);
      expect((await commands.list(project, 9)).map(({ id }) => id)).toEqual(['c2', 'c1']);
      expect(await commands.list(project, 1)).toHaveLength(1);
    });

    it('writes one command for one key, however often and at once it is sent', async () => {
      const { commands } = await open();
      const sent = await Promise.all(
        Array.from({ length: 8 }, (_, index) => commands.submit(command(`c${index}`, { key: 'k' }))),
      );
      expect(sent.filter(({ created }) => created)).toHaveLength(1);
      expect(new Set(sent.map((each) => each.command.id)).size).toBe(1);
      expect((await commands.submit(command('b', { key: 'k', project: 'beta' }))).created).toBe(true);
      await commands.submit(command('n1'));
      expect((await commands.submit(command('n2'))).created).toBe(true);
      await expect(commands.submit(command('n2'))).rejects.toMatchObject({ code: 'store_constraint' });
    });

    it('knows the newest of a kind that was done, and keeps it when it prunes', async () => {
      const { commands } = await open();
      const done = { status: 'done', text: 'ok' } as const;
      for (const [index, kind] of ['pause', 'resume', 'pause', 'drain', 'resume'].entries()) {
        await commands.submit(command(`c${index}`, { kind }));
        if (index < 4) await commands.finish(`c${index}`, { ...done, at: 10 + index });
      }
      await commands.finish('c4', { at: 14, status: 'refused', text: 'no' });
      expect((await commands.latestDone(project, ['pause', 'resume']))?.id).toBe('c2');
      expect((await commands.latestDone(project, ['resume']))?.id).toBe('c1');
      expect(await commands.latestDone(project, ['stop'])).toBeNull();
      expect(await commands.latestDone(project, [])).toBeNull();
      expect(await commands.latestDone('beta', ['pause'])).toBeNull();
      expect(await commands.prune(14, 10)).toBe(1);
      expect(await commands.prune(99, 10)).toBe(1);
      expect((await commands.list(project, 9)).map(({ id }) => id)).toEqual(['c3', 'c2', 'c1']);
      expect((await commands.latestDone(project, ['pause', 'resume']))?.id).toBe('c2');
    });

    it('prunes no more than asked, and nothing that waits', async () => {
      const { commands } = await open();
      for (let index = 0; index < 6; index++) {
        await commands.submit(command(`c${index}`));
        if (index < 5) await commands.finish(`c${index}`, { at: index, status: 'refused', text: '' });
      }
      expect(await commands.prune(100, 2)).toBe(2);
      expect((await commands.list(project, 9)).map(({ id }) => id)).toEqual(['c5', 'c4', 'c3', 'c2']);
      expect(await commands.prune(100, 9)).toBe(3);
      expect((await commands.waiting(project, 9)).map(({ id }) => id)).toEqual(['c5']);
    });
  });
}
