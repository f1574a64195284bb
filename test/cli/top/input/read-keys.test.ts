import { EventEmitter } from 'node:events';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Key } from '../../../../src/cli/top/input/decode-keys.ts';
import { readKeys } from '../../../../src/cli/top/input/read-keys.ts';
import { SimulatedClock } from '../../../fake/simulated-clock.ts';

const begins = '\u001b[200~';
const ends = '\u001b[201~';

/** What is heard of pieces that come so far apart. */
async function heard(pieces: readonly string[], apartMs: number): Promise<Key[]> {
  const clock = new SimulatedClock();
  const stdin = new EventEmitter();
  const keys: Key[] = [];
  const stop = readKeys(stdin as unknown as NodeJS.ReadStream, clock, (more) => keys.push(...more));
  for (const piece of pieces) {
    stdin.emit('data', Buffer.from(piece));
    await clock.advance(apartMs);
  }
  stop();
  expect(clock.pending).toBe(0);
  return keys;
}

const named = (keys: readonly Key[]): string[] =>
  keys.map((key) => ('text' in key ? `${key.name} ${key.text}` : key.name));

describe('terminal input', () => {
  it.each([
    ['pauses', [begins, 'dy', '\rp', `q${ends}j`], ['paste dy\rpq', 'text j']],
    ['pauses in its end mark', [`${begins}dy`, '\u001b[20', '1~j'], ['paste dy', 'text j']],
    ['pauses in its first mark', ['\u001b[20', `0~dyq${ends}j`], ['paste dyq', 'text j']],
    ['pauses after the escape of its first mark', ['\u001b', `[200~dyq${ends}j`], ['escape', 'paste dyq', 'text j']],
    ['never ends', [`${begins}dy`, 'p', 'q', '\r', '\u001b'], []],
  ])('does not treat a paste that %s as keys', async (_, pieces, names) => {
    expect(named(await heard(pieces, 10_000))).toEqual(names);
  });

  it('drops a paste that is too long, and reads what follows it', async () => {
    const pieces = [begins, ...Array.from({ length: 30 }, () => 'pdyq\r'.repeat(10_000)), `p${ends}j`];
    expect(named(await heard(pieces, 1))).toEqual(['text j']);
    const inOne = [`${begins}${'pq'.repeat(600_000)}\u001b[20`, '1~j'];
    expect(named(await heard(inOne, 1))).toEqual(['text j']);
  });

  // @conforms top.6
  it('keeps a paste together, however it is split and however slow it is', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: fc.constantFrom('p', 'q', 'd', 'y', '\r', '[', '~', '2', '0') }),
        fc.array(fc.nat(80), { maxLength: 5 }),
        async (text, places) => {
          const sent = `${begins}${text}${ends}j`;
          // A lone escape is the key of that name: the mark is cut anywhere but after it.
          const cuts = [0, ...places.filter((at) => at > 1 && at < sent.length), sent.length].toSorted((a, b) => a - b);
          const pieces = cuts.slice(1).map((to, at) => sent.slice(cuts[at], to));
          expect(named(await heard(pieces, 5_000))).toEqual([`paste ${text}`, 'text j']);
        },
      ),
    );
  });

  it('treats a lone escape as the key', async () => {
    expect(named(await heard(['\u001b', 'j', '\u001b[', 'A', '\u001bO', 'k'], 100))).toEqual([
      ...['escape', 'text j', 'up', 'escape', 'text O', 'text k'],
    ]);
  });
});
