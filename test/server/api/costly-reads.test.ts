import { connect } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Diff } from '../../../src/client/schema/run.ts';
import { type CostlyRead, CostlyReads } from '../../../src/server/api/costly-reads.ts';
import { begun, gate } from '../../orchestrator/scene.ts';
import { apiOf, projectOf } from './api-scene.ts';

const limits = { atOnce: 3, atOnceOfOne: 2, most: 9, mostOfOne: 5 };

describe('costly reads', () => {
  it('run a few at a time, never all for one caller, and all of them in the end', async () => {
    const step = fc.record({ caller: fc.constantFrom('a', 'b', 'c'), act: fc.constantFrom('enter', 'done', 'leave') });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const costly = new CostlyReads(limits);
        const working = new Map<CostlyRead, string>();
        const held = new Map<CostlyRead, string>();
        const finished = new Set<CostlyRead>();
        const own = (caller: string) => [...held].filter(([, of]) => of === caller).map(([read]) => read);
        const enter = (caller: string): void => {
          const isFull = held.size >= limits.most || own(caller).length >= limits.mostOfOne;
          const read = costly.enter(caller);
          expect(read === null).toBe(isFull);
          if (read === null) return;
          held.set(read, caller);
          // One that is given up before its turn is told so by the same promise, and is never worked on.
          void read.turn.then(() => held.has(read) && !finished.has(read) && working.set(read, caller));
        };
        const finish = (read: CostlyRead, isTaken: boolean): void => {
          finished.add(read);
          working.delete(read);
          read.done();
          if (!isTaken) return;
          held.delete(read);
          read.taken();
        };
        for (const { caller, act } of steps) {
          const [first] = own(caller);
          if (act === 'enter') enter(caller);
          else if (first !== undefined) finish(first, act === 'leave');
          await Promise.resolve();
          await Promise.resolve();
          const callers = [...working.values()];
          expect(callers.length).toBeLessThanOrEqual(limits.atOnce);
          for (const each of ['a', 'b', 'c'])
            expect(callers.filter((of) => of === each).length).toBeLessThanOrEqual(limits.atOnceOfOne);
        }
        for (const read of held.keys()) {
          read.done();
          read.taken();
        }
        await Promise.all([...held.keys()].map(({ turn }) => turn));
        // Nothing is left behind.
        expect([1, 2, 3].map(() => costly.enter('a')?.turn)).toEqual([1, 2, 3].map(() => expect.any(Promise)));
      }),
    );
  });

  const diff: Diff = { base: null, head: null, branch: null, files: [], is_cut: false, why_none: null };
  const address = '/api/v1/projects/test/issues/1/diff';

  // @conforms api.57
  it('wait for their turn or are refused, while other requests are answered', { timeout: 30_000 }, async () => {
    const door = gate();
    const at = { once: 0, most: 0 };
    const project = projectOf(await begun(), 'test', {
      diff: async () => {
        at.once += 1;
        at.most = Math.max(at.most, at.once);
        await door.passed;
        at.once -= 1;
        return diff;
      },
    });
    const { ask } = await apiOf([project]);
    let answered = 0;
    const asked = Array.from({ length: 60 }, async () => {
      const answer = await ask('GET', address);
      answered += 1;
      return answer;
    });
    await expect.poll(() => answered).toBe(44);
    expect(at.once).toBe(2);
    for (const path of ['/healthz', '/api/v1/state', '/api/v1/projects/test', '/api/v1/projects/test/runs'])
      expect((await ask('GET', path)).status, path).toBe(200);
    expect((await ask('POST', '/api/v1/projects/test/commands', { kind: 'pause' })).status).toBe(200);
    door.open();
    const answers = await Promise.all(asked);
    expect(at.most).toBe(2);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(16);
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(44);
    expect(refused[0]?.headers.get('retry-after')).toBe('1');
    expect((await ask('GET', address)).status).toBe(200);
  });

  // @conforms api.58
  it('count until their responses are received, and a client that does not read is disconnected', {
    timeout: 90_000,
  }, async () => {
    let made = 0;
    const files = [
      { path: 'a', old_path: null, status: 'added' as const, added: 1, removed: 0, patch: 'x'.repeat(2 ** 23) },
    ];
    const project = projectOf(await begun(), 'test', {
      diff: async () => {
        made += 1;
        return { ...diff, files };
      },
    });
    const { ask, listener } = await apiOf([project], undefined, {
      // Long enough that a busy machine has heard all of them before it lets the first go.
      connections: { unreadMs: 8_000 },
    });
    const { port } = listener.address;
    for (let count = 0; count < 80; count += 1) {
      const deaf = connect(port, '127.0.0.1');
      onTestFinished(() => void deaf.destroy());
      deaf.on('error', () => {});
      deaf.pause();
      deaf.write(`GET ${address} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`);
    }
    await expect.poll(() => made).toBe(16);
    expect((await ask('GET', '/healthz')).status).toBe(200);
    await expect.poll(async () => (await ask('GET', address)).status, { timeout: 60_000, interval: 200 }).toBe(200);
  });
});
