import { describe, expect, it } from 'vitest';
import { outcomeWords } from '../../src/core/outcome-words.ts';
import type { StopReason } from '../../src/core/run.ts';
import { stopOutcome } from '../../src/core/stop-outcome.ts';

function wordsOf(reason: StopReason): string {
  const outcome = stopOutcome(reason, 1);
  if (outcome.end === 'succeeded') return outcome.end;
  return outcomeWords({ outcome: outcome.end, errorCode: outcome.error.code, errorMessage: outcome.error.message });
}

describe('how a run ended, in words', () => {
  it.each<[StopReason, string]>([
    ['taken_over', 'taken over: a person goes on by hand.'],
    ['stopped_by_person', 'stopped: a person asked for it.'],
    ['terminal_state', 'stopped: the issue is in a terminal state.'],
    ['shutdown', 'interrupted: Baton stops.'],
    ['stalled', 'stalled: The agent showed no sign of life for too long.'],
  ])('%s', (reason, words) => {
    expect(wordsOf(reason)).toBe(words);
  });

  it('calls neither a person who was waited for nor a takeover a failure', () => {
    expect(wordsOf('unanswered')).toMatch(/^waited for a person: Nobody answered/);
    for (const reason of ['unanswered', 'taken_over'] as const) expect(wordsOf(reason)).not.toMatch(/fail|cancel/);
  });

  it('keeps what an agent failed with, and a success has nothing to add', () => {
    expect(outcomeWords({ outcome: 'failed', errorCode: 'agent_exited', errorMessage: 'gone' })).toBe('failed: gone');
    expect(outcomeWords({ outcome: 'succeeded', errorCode: null, errorMessage: null })).toBe('succeeded');
  });
});
