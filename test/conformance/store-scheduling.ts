import { expect, it } from 'vitest';
import { done, refused } from '../../src/core/command/command-answers.ts';
import type { CommandDraft } from '../../src/store/tables/commands.ts';
import type { HeldIssue } from '../../src/store/tables/held.ts';
import type { JobTimer } from '../../src/store/tables/job-timers.ts';
import type { Retry } from '../../src/store/tables/retries.ts';
import { onEngine, project, runStart, type StoreEngine } from './store.ts';

/** The tables of scheduling besides claims: projects, retries, held issues, pins, counters, job timers, commands. */
export function schedulingConformance(engine: StoreEngine): void {
  const key = { project, issueId: 'i1' };
  const elsewhere = { project: 'beta', issueId: 'i1' };

  onEngine(engine, 'keeps projects', ({ open, place }) => {
    it('gives a name always the same id, and another name another id', async () => {
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

    it('lets one owner at a time run the checks of a project, until it releases them', async () => {
      const { projects } = await open();
      for (const name of ['one', 'two']) await projects.ensure(name, 1);
      const take = (id: string, owner: string, leaseMs = 60_000) => projects.leaseChecks(id, owner, { at: 5, leaseMs });
      // Many at once: one of them gets it.
      const taken = await Promise.all(
        ['a', 'b', 'c', 'd'].map(async (owner) => ((await take('one', owner)) ? owner : '')),
      );
      const [owner = '', ...others] = taken.filter(Boolean);
      expect([owner === '', others]).toEqual([false, []]);
      expect([await take('one', 'other'), await take('one', owner), await take('two', 'other')]).toEqual([
        false,
        true,
        true,
      ]);
      expect([await projects.releaseChecks('one', 'other'), await projects.releaseChecks('one', owner)]).toEqual([
        false,
        true,
      ]);
      expect([await take('one', 'other', 0), await take('one', owner), await take('none', owner)]).toEqual([
        true,
        true,
        false,
      ]);
    });
  });

  onEngine(engine, 'keeps retries, held issues, counters and timers', ({ open, place }) => {
    const retry: Retry = {
      ...key,
      identifier: 'BAT-1',
      url: 'https://example.org/BAT-1',
      role: 'judge',
      kind: 'failure',
      attempt: 2,
      failures: 1,
      staleRuns: 3,
      dueAt: 50,
      error: 'agent_exited',
      recovery: 'compact',
      agent: 'careful',
    };
    const bare: Retry = {
      ...retry,
      issueId: 'i2',
      url: null,
      kind: null,
      attempt: null,
      failures: 0,
      staleRuns: 0,
      dueAt: 20,
      error: null,
      recovery: null,
      agent: null,
    };

    it('has one retry per issue, by due time', async () => {
      const { retries } = await open();
      await retries.put(bare);
      await retries.put(retry);
      await retries.put({ ...retry, ...elsewhere });
      expect(await retries.list(project)).toEqual([bare, retry]);
      const later = { ...bare, issueId: key.issueId, kind: 'interrupted', dueAt: 10 } as const;
      await retries.put(later);
      expect(await retries.list(project)).toEqual([later, bare]);
      expect(await retries.read(key)).toEqual(later);
      expect(await retries.remove(key)).toBe(true);
      expect(await retries.remove(key)).toBe(false);
      expect(await retries.read(key)).toBeNull();
      expect(await retries.read(elsewhere)).toEqual({ ...retry, ...elsewhere });
    });

    it('has one held entry per issue', async () => {
      const { held } = await open();
      const entry: HeldIssue = {
        ...key,
        identifier: 'BAT-1',
        role: 'judge',
        code: 'person',
        reason: 'asked to',
        since: 5,
        runId: null,
      };
      await held.put(entry);
      await held.put({ ...entry, code: 'agent_survives', runId: 'r1' });
      await held.put({ ...entry, ...elsewhere });
      expect(await held.list(project)).toEqual([{ ...entry, code: 'agent_survives', runId: 'r1' }]);
      expect(await held.remove(key)).toBe(true);
      expect(await held.remove(key)).toBe(false);
    });

    it('adds to counters without losing any, and sets counters', async () => {
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

    it('deletes the named counters, or all of an issue', async () => {
      const { counters } = await open();
      for (const name of ['a', 'b', 'c']) await counters.set(key, name, 1);
      await counters.set(elsewhere, 'a', 1);
      await counters.clear(key, []);
      await counters.clear(key, ['a', 'none', "' or 1 = 1"]);
      expect(await counters.read(key)).toEqual({ b: 1, c: 1 });
      expect(await counters.add(key, 'a', 2)).toBe(2);
      await counters.clear(key);
      expect(await counters.read(key)).toEqual({});
      expect(await counters.read(elsewhere)).toEqual({ a: 1 });
    });

    it('sorts names by code point, whatever the language of the machine or the server', async () => {
      const { counters } = await open();
      const names = ['b', 'A', 'a', '_', 'Z', 'é', 'BAT-9', 'BAT-10'];
      for (const issueId of names) await counters.set({ project, issueId }, 'n', 1);
      const sorted = ['A', 'BAT-10', 'BAT-9', 'Z', '_', 'a', 'b', 'é'];
      expect((await counters.list(project)).map(({ issueId }) => issueId)).toEqual(sorted);
    });

    const timer: JobTimer = {
      project,
      job: 'scan',
      owner: 'me',
      lastRunAt: null,
      nextDueAt: 5,
      outcome: null,
      durationMs: null,
      failures: 0,
      error: null,
    };

    it('keeps the outcome of each job and its due time', async () => {
      const { jobTimers } = await open();
      const failed = {
        lastRunAt: 5,
        nextDueAt: 9,
        outcome: 'failed',
        durationMs: 7,
        failures: 2,
        error: 'no 漢',
      } as const;
      await jobTimers.put(timer);
      expect(await jobTimers.list(project)).toEqual([timer]);
      await jobTimers.put({ ...timer, ...failed });
      const pruned = { ...timer, job: 'prune', lastRunAt: 1, nextDueAt: 2, outcome: 'ok', durationMs: 0 } as const;
      await jobTimers.put(pruned);
      expect(await jobTimers.list(project)).toEqual([pruned, { ...timer, ...failed }]);
      await jobTimers.put(timer);
      expect(await jobTimers.list(project)).toEqual([pruned, timer]);
      expect(await jobTimers.list('beta')).toEqual([]);
    });

    // @conforms cadence.7
    it('keeps a job apart for each daemon, for no daemon and for each project', async () => {
      const { jobTimers } = await open();
      const all = ['', 'a', 'b'].flatMap((owner, at) =>
        ['prune', 'scan'].map((job) => ({ ...timer, job, owner, nextDueAt: at })),
      );
      await Promise.all([...all, { ...timer, project: 'beta', owner: '' }].map((each) => jobTimers.put(each)));
      const sorted = all.toSorted((left, right) => (left.job < right.job ? -1 : left.job > right.job ? 1 : 0));
      expect(await jobTimers.list(project)).toEqual(sorted);
      await jobTimers.put({ ...timer, owner: 'a', nextDueAt: 70 });
      expect((await jobTimers.list(project)).map(({ nextDueAt }) => nextDueAt)).toEqual([0, 1, 2, 0, 70, 2]);
      expect(await jobTimers.list('beta')).toHaveLength(1);
    });

    // @conforms 4.14
    it('gives the turn of a job to one of several daemons that saw the same due time', async () => {
      const where = await place();
      const stores = [await open(where), await open(where), await open(where)];
      const taken = (seen: number | null, nextDueAt: number) =>
        Promise.all(stores.map(({ jobTimers }) => jobTimers.take(project, 'scan', { seen, nextDueAt })));
      expect((await taken(null, 10.4)).filter(Boolean)).toHaveLength(1);
      expect((await taken(10, 20)).filter(Boolean)).toHaveLength(1);
      // A due time that is over, and a row that is there already.
      expect([...(await taken(10, 30)), ...(await taken(null, 30))]).toEqual(Array(6).fill(false));
      expect(await stores[0]?.jobTimers.list(project)).toMatchObject([{ job: 'scan', owner: '', nextDueAt: 20 }]);
    });

    it('accepts fractional times', async () => {
      const { jobTimers } = await open();
      await jobTimers.put({ ...timer, nextDueAt: 5.7, durationMs: 1.2 });
      expect(await jobTimers.list(project)).toMatchObject([{ nextDueAt: 6, durationMs: 1 }]);
    });
  });

  onEngine(engine, 'keeps pins', ({ open }) => {
    const author = { kind: 'person', name: 'Ada' } as const;
    const pin = { ...key, identifier: 'BAT-1', since: 5, author };

    it('from the first who pins an issue to the one who unpins it', async () => {
      const { pins } = await open();
      expect(await pins.remove(key)).toBe(false);
      await pins.put(pin);
      await pins.put({ ...pin, since: 9 });
      await pins.put({ ...pin, ...elsewhere });
      expect(await pins.list(project)).toEqual([pin]);
      expect(await pins.remove(key)).toBe(true);
      expect(await pins.list(project)).toEqual([]);
      expect(await pins.list('beta')).toHaveLength(1);
    });
  });

  onEngine(engine, 'returns what must survive a restart', ({ open, place }) => {
    const retry: Retry = {
      ...key,
      identifier: 'BAT-1',
      url: null,
      role: 'worker',
      kind: 'continuation',
      attempt: 1,
      failures: 0,
      staleRuns: 0,
      dueAt: 5,
      error: null,
      recovery: null,
      agent: null,
    };
    const hold: HeldIssue = {
      ...key,
      identifier: 'BAT-1',
      role: 'worker',
      code: 'person',
      reason: 'asked to',
      since: 5,
      runId: null,
    };

    it('of one project: claims, retries, held issues, runs without an end', async () => {
      const store = await open();
      expect(await store.recovery(project, 1)).toEqual({ claims: [], retries: [], held: [], unfinishedRuns: [] });
      for (const each of [key, elsewhere]) {
        const wish = { owner: 'me', host: 'h', at: 1, slotState: 'Todo' } as const;
        await store.claims.take(each, { ...wish, leaseMs: 3_600_000 });
        await store.claims.take({ ...each, issueId: 'i2' }, { ...wish, leaseMs: -1 });
        await store.claims.take({ ...each, issueId: 'i3' }, { ...wish, leaseMs: 1 });
        await store.claims.release({ ...each, issueId: 'i3' }, { owner: 'me', generation: 1 });
        await store.retries.put({ ...retry, ...each });
        await store.held.put({ ...hold, ...each });
        for (const runId of ['ended', 'live'])
          await store.runs.start(runStart(`${each.project} ${runId}`, { project: each.project }));
        const finish = { endedAt: 2, outcome: 'succeeded', errorCode: null, errorMessage: null } as const;
        await store.runs.finish(`${each.project} ended`, 1, finish);
      }
      const found = await store.recovery(project, 1);
      expect(found).toEqual({
        claims: await store.claims.held(project, 1),
        retries: [retry],
        held: [hold],
        unfinishedRuns: [await store.runs.read(`${project} live`)],
      });
      expect(found.claims.map(({ issueId, isExpired }) => [issueId, isExpired]).toSorted()).toEqual([
        ['i1', false],
        ['i2', true],
      ]);
    });

    it('as of one moment, while others write', async () => {
      const where = await place();
      const [writer, reader] = [await open(where), await open(where)];
      await writer.retries.put(retry);
      let isWriting = true;
      const write = async () => {
        for (let round = 0; round < 60; round++) {
          await writer.transaction(async ({ retries, held }) => {
            if (await held.remove(key)) await retries.put(retry);
            else if (await retries.remove(key)) await held.put(hold);
          });
        }
        isWriting = false;
      };
      const read = async () => {
        const seen: number[] = [];
        while (isWriting) {
          const { retries, held } = await reader.recovery(project, 1);
          seen.push(retries.length + held.length);
          await new Promise((resolve) => setImmediate(resolve));
        }
        return new Set(seen);
      };
      const [, ...seen] = await Promise.all([write(), read(), read()]);
      expect(seen).toEqual([new Set([1]), new Set([1])]);
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

    it('returns waiting commands, oldest first, until they have a result', async () => {
      const { commands } = await open();
      const { command: first, created } = await commands.submit(command('c1', { payload: { issue: ['BAT-1', null] } }));
      expect(created).toBe(true);
      expect(first).toEqual({
        ...command('c1', { payload: { issue: ['BAT-1', null] } }),
        seq: first.seq,
        begun: null,
        result: null,
      });
      await commands.submit(command('c2'));
      await commands.submit(command('other', { project: 'beta' }));
      expect((await commands.waiting(project, 9)).map(({ id }) => id)).toEqual(['c1', 'c2']);
      expect((await commands.waiting(project, 1)).map(({ id }) => id)).toEqual(['c1']);
      const result = { at: 5, ...refused('issue_not_found', 'There is no such issue.', { issue: ['BAT-1', null] }) };
      expect(await commands.finish('c1', result)).toBe(true);
      expect(await commands.finish('c1', { at: 6, ...done('held', 'BAT-1 is on hold.') })).toBe(false);
      expect(await commands.finish('no', result)).toBe(false);
      expect(await commands.read('c1')).toEqual({ ...first, result });
      expect(await commands.read('no')).toBeNull();
      expect((await commands.waiting(project, 9)).map(({ id }) => id)).toEqual(['c2']);
      expect((await commands.list(project, 9)).map(({ id }) => id)).toEqual(['c2', 'c1']);
      expect(await commands.list(project, 1)).toHaveLength(1);
    });

    it('keeps the progress of a command only until it has a result', async () => {
      const { commands } = await open();
      const { command: written } = await commands.submit(command('c1'));
      expect(await commands.begin('c1', 'run-1')).toBe(true);
      expect(await commands.read('c1')).toEqual({ ...written, begun: 'run-1' });
      expect(await commands.waiting(project, 9)).toMatchObject([{ id: 'c1', begun: 'run-1' }]);
      expect(await commands.begin('c1', null)).toBe(true);
      expect(await commands.read('c1')).toEqual(written);
      await commands.begin('c1', 'run-2');
      const result = { at: 5, ...done('message_delivered', 'told', { by: `a\u0000b\ud800 \\u0000 "'%` }) };
      await commands.finish('c1', result);
      expect(await commands.read('c1')).toEqual({ ...written, result });
      expect(await commands.begin('c1', 'late')).toBe(false);
      expect(await commands.begin('no', 'one')).toBe(false);
      expect(await commands.read('c1')).toEqual({ ...written, result });
    });

    it('writes one command for one key, however often and concurrently it is sent', async () => {
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

    it('finds the newest completed command of a kind, and keeps it when pruning', async () => {
      const { commands } = await open();
      for (const [index, kind] of ['pause', 'resume', 'pause', 'drain', 'resume'].entries()) {
        await commands.submit(command(`c${index}`, { kind }));
        if (index < 4) await commands.finish(`c${index}`, { at: 10 + index, ...done('paused', 'ok') });
      }
      await commands.finish('c4', { at: 14, ...refused('not_paused', 'no') });
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

    it('lists commands in outline: long values are omitted, and garbage does no harm', async () => {
      const { commands } = await open();
      const long = 'x'.repeat(100_000);
      const broken = `a\u0000b\ud800 \\u0000 "'%`;
      const payloads = [
        { issue: 'BAT-1', text: long, reason: 'because' },
        { question: 'q1', values: { issue: long } },
        { issue: ['BAT-1', null], reason: { issue: 'BAT-1' }, question: 7 },
        { text: broken, issue: 'BAT-2' },
        { issue: 'BAT-3', reason: long },
        {},
      ];
      for (const [at, payload] of payloads.entries())
        await commands.submit(command(`c${at}`, { payload, kind: at === 1 ? 'question_answer' : 'issue_steer' }));
      for (const id of ['c0', 'c1', 'c4'])
        await commands.finish(id, { at: 5, ...done('message_delivered', 'ok', { runs: 1 }) });
      await commands.finish('c3', { at: 5, ...refused('not_running', 'no') });
      await commands.submit(command('other', { project: 'beta', payload: { issue: 'BAT-1' } }));
      const all = await commands.outlines(project, { limit: 9 });
      expect(all.map(({ id }) => id)).toEqual(['c5', 'c4', 'c3', 'c2', 'c1', 'c0']);
      expect(all.find(({ id }) => id === 'c0')).toEqual({
        ...(await commands.read('c0')),
        payload: { issue: 'BAT-1', reason: 'because', text: long.slice(0, 500) },
      });
      expect(all.find(({ id }) => id === 'c1')?.payload).toEqual({ question: 'q1' });
      expect(all.find(({ id }) => id === 'c2')?.payload).toEqual({});
      expect(String(all.find(({ id }) => id === 'c4')?.payload.reason).length).toBeLessThan(5_000);
      expect((await commands.outlines(project, { limit: 2 })).map(({ id }) => id)).toEqual(['c5', 'c4']);
      const idsDone = async (doneKinds: string[], limit: number) =>
        (await commands.outlines(project, { limit, doneKinds })).map(({ id }) => id);
      expect(await idsDone(['issue_steer', 'question_answer'], 9)).toEqual(['c4', 'c1', 'c0']);
      expect(await idsDone(['issue_steer', 'question_answer'], 2)).toEqual(['c4', 'c1']);
      expect(await idsDone(['question_answer'], 9)).toEqual(['c1']);
      expect(await idsDone([], 9)).toEqual([]);
    });

    it('prunes up to the limit, and no waiting command', async () => {
      const { commands } = await open();
      for (let index = 0; index < 6; index++) {
        await commands.submit(command(`c${index}`));
        if (index < 5) await commands.finish(`c${index}`, { at: index, ...refused('already_paused', '') });
      }
      expect(await commands.prune(100, 2)).toBe(2);
      expect((await commands.list(project, 9)).map(({ id }) => id)).toEqual(['c5', 'c4', 'c3', 'c2']);
      expect(await commands.prune(100, 9)).toBe(3);
      expect((await commands.waiting(project, 9)).map(({ id }) => id)).toEqual(['c5']);
    });
  });
}
