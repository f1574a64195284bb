import { describe, expect, it } from 'vitest';
import { type EndedRun, outcomeWords } from '../../../src/core/run/outcome-words.ts';
import type { StopReason } from '../../../src/core/run/run.ts';
import { stopOutcome } from '../../../src/core/run/stop-outcome.ts';

function ended(reason: StopReason): EndedRun {
  const outcome = stopOutcome(reason, 1);
  if (outcome.end === 'succeeded') throw new Error('It was not stopped.');
  return { outcome: outcome.end, errorCode: outcome.error.code, errorMessage: outcome.error.message };
}

describe('how a run ended, in words', () => {
  it.each<StopReason>(['taken_over', 'stopped_by_person', 'terminal_state', 'limit_reached', 'shutdown'])(
    '%s: the message says it all',
    (reason) => {
      expect(outcomeWords(ended(reason))).toBe(ended(reason).errorMessage);
    },
  );

  // @conforms runs.78
  it('calls neither a person who was waited for nor a takeover a failure', () => {
    for (const reason of ['unanswered', 'taken_over'] as const) {
      const end = ended(reason);
      expect(outcomeWords(end)).toContain(end.errorMessage);
      expect(outcomeWords({ ...end, errorMessage: 'why' })).not.toMatch(/fail|cancel/);
    }
  });

  it('keeps what an agent failed with, and a success has nothing to add', () => {
    expect(outcomeWords({ outcome: 'failed', errorCode: 'agent_exited', errorMessage: 'gone' })).toBe('failed: gone');
    expect(outcomeWords({ outcome: 'stalled', errorCode: 'run_stalled', errorMessage: 'still' })).toBe(
      'stalled: still',
    );
    expect(outcomeWords({ outcome: 'succeeded', errorCode: null, errorMessage: null })).toBe('succeeded');
  });
});
