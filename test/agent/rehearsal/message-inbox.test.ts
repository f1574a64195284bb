import { describe, expect, it } from 'vitest';
import { createInbox } from '../../../src/agent/rehearsal/message-inbox.ts';
import { SimulatedClock } from '../../fake/simulated-clock.ts';

function listening(ms: number, before: readonly string[] = []) {
  const clock = new SimulatedClock();
  const said: string[] = [];
  const inbox = createInbox(clock, (text) => said.push(text));
  for (const text of before) inbox.add(text);
  let words: string[] | null = null;
  const end = inbox.listen(ms).then((heard) => {
    words = heard;
  });
  return { clock, said, inbox, end, words: () => words };
}

describe('the message inbox of the scripted agent', () => {
  it('returns earlier and new messages when the time is over, and reports meanwhile that it works', async () => {
    const { clock, said, inbox, end, words } = listening(25_000, ['early']);
    await clock.advance(12_000);
    inbox.add('in the middle');
    await clock.advance(12_000);
    expect(words()).toBeNull();
    await clock.advance(2_000);
    await end;
    expect(words()).toEqual(['early', 'in the middle']);
    expect(said.length).toBeGreaterThanOrEqual(3);
    expect(said[0]).toContain('25 s');
    expect(await inbox.listen(0)).toEqual([]);
  });

  it.each(['go on', ' Go on! '])('ends at once on %j, and does not return those words', async (enough) => {
    const { inbox, end, words } = listening(120_000);
    inbox.add('one more thing');
    inbox.add(enough);
    await end;
    expect(words()).toEqual(['one more thing']);
  });

  it('does not wait without a time', async () => {
    const { end, said, words } = listening(0, ['kept']);
    await end;
    expect([words(), said]).toEqual([['kept'], []]);
  });
});
