import { describe, expect, it } from 'vitest';
import { type EndedRun, outcomeWords } from '../../../src/core/run/outcome-words.ts';
import type { StopReason } from '../../../src/core/run/run.ts';
import { stopOutcome } from '../../../src/core/run/stop-outcome.ts';

function ended(reason: StopReason): EndedRun {
  const outcome = stopOutcome(reason, 1);
  if (outcome.end === 'succeeded') throw new Error('It was not stopped.');
  return { outcome: outcome.end, errorCode: outcome.error.code, errorMessage: outcome.error.message };
}

describe('the text of how a run ended', () => {
  it.each<StopReason>(['taken_over', 'stopped_by_person', 'terminal_state', 'limit_reached', 'shutdown'])(
    '%s: is the message alone',
    (reason) => {
      expect(outcomeWords(ended(reason))).toBe(ended(reason).errorMessage);
    },
  );

  // @conforms runs.78
  it('does not call a wait for a person or a takeover a failure', () => {
    for (const reason of ['unanswered', 'taken_over'] as const) {
      const end = ended(reason);
      expect(outcomeWords(end)).toContain(end.errorMessage);
      expect(outcomeWords({ ...end, errorMessage: 'why' })).not.toMatch(/fail|cancel/);
    }
  });

  it('keeps the error of an agent, and adds nothing to a success', () => {
    expect(outcomeWords({ outcome: 'failed', errorCode: 'agent_exited', errorMessage: 'gone' })).toBe('failed: gone');
    expect(outcomeWords({ outcome: 'stalled', errorCode: 'run_stalled', errorMessage: 'still' })).toBe(
      'stalled: still',
    );
    expect(outcomeWords({ outcome: 'succeeded', errorCode: null, errorMessage: null })).toBe('succeeded');
  });
});
