import { describe, expect, it } from 'vitest';
import { createEar } from '../../../src/agent/rehearsal/ear.ts';
import { SimulatedClock } from '../../fake/simulated-clock.ts';

function listening(ms: number, before: readonly string[] = []) {
  const clock = new SimulatedClock();
  const said: string[] = [];
  const ear = createEar(clock, (text) => said.push(text));
  for (const text of before) ear.hear(text);
  let words: string[] | null = null;
  const end = ear.listen(ms).then((heard) => {
    words = heard;
  });
  return { clock, said, ear, end, words: () => words };
}

describe('the ear of the stand-in', () => {
  it('gives what was said before and meanwhile, when the time is over, and says on the way that it works', async () => {
    const { clock, said, ear, end, words } = listening(25_000, ['early']);
    await clock.advance(12_000);
    ear.hear('in the middle');
    await clock.advance(12_000);
    expect(words()).toBeNull();
    await clock.advance(2_000);
    await end;
    expect(words()).toEqual(['early', 'in the middle']);
    expect(said.length).toBeGreaterThanOrEqual(3);
    expect(said[0]).toContain('25 s');
    expect(await ear.listen(0)).toEqual([]);
  });

  it.each(['go on', ' Go on! '])('goes on at once when it is told %j, and takes that for no news', async (enough) => {
    const { ear, end, words } = listening(120_000);
    ear.hear('one more thing');
    ear.hear(enough);
    await end;
    expect(words()).toEqual(['one more thing']);
  });

  it('waits for nobody when there is no time', async () => {
    const { end, said, words } = listening(0, ['kept']);
    await end;
    expect([words(), said]).toEqual([['kept'], []]);
  });
});
