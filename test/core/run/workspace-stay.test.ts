import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { shortestRetention, type WorkspaceSituation, whyItStays } from '../../../src/core/run/workspace-stay.ts';
import { timeToSecond } from '../../../src/core/text/time-text.ts';
import { settings } from '../../fake/settings.ts';
import { telling } from '../../telling.ts';

const hourMs = 3_600_000;
const now = 1_000 * hourMs;

function why(
  situation: Partial<WorkspaceSituation>,
  workspace: { retentionMs?: number; retentionMsByState?: Record<string, number> } = {},
  ignoresRetention = false,
) {
  const wanted = settings({ workspace });
  const found = { claim: null, isPinned: false, issue: { state: 'Done' }, idleSince: 0, ...situation };
  return whyItStays(found, { tracker: wanted.tracker, workspace: wanted.workspace, now, ignoresRetention });
}

describe('a workspace', () => {
  it('is removed when its issue is finished, unclaimed and past its retention', () => {
    expect(why({})).toBeNull();
    expect(why({ idleSince: now - hourMs }, { retentionMs: hourMs })).toBeNull();
  });

  it.each([
    ['claimed', { claim: 'its run has not ended' }],
    ['pinned', { isPinned: true }],
    ['issue_unknown', { issue: undefined }],
    ['issue_gone', { issue: null }],
    ['not_finished', { issue: { state: 'In Progress' } }],
    ['not_finished', { issue: { state: 'Human Review' } }],
  ] as const)('stays: %s, also when a person asks to ignore the retention', (code, situation) => {
    expect(why(situation)?.code).toBe(code);
    expect(why(situation, {}, true)?.code).toBe(code);
  });

  // @conforms F081
  it('stays for the retention of its state, in any case, otherwise for the general retention', () => {
    const times = { retentionMs: hourMs, retentionMsByState: { cancelled: 24 * hourMs, done: 0 } };
    const idleSince = now - 2 * hourMs;
    expect(why({ issue: { state: ' CANCELLED ' }, idleSince }, times)).toEqual({
      code: 'retention',
      text: telling(timeToSecond(idleSince + 24 * hourMs)),
    });
    expect(why({ issue: { state: 'cancelled' }, idleSince: now - 24 * hourMs }, times)).toBeNull();
    expect(why({ issue: { state: 'Closed' }, idleSince }, times)).toBeNull();
    expect(why({ issue: { state: 'Closed' }, idleSince: now - 1 }, times)?.code).toBe('retention');
    expect(why({ issue: { state: 'Done' }, idleSince: now }, times)).toBeNull();
    expect(why({ issue: { state: 'Closed' }, idleSince: now - 1 }, times, true)).toBeNull();
  });

  it('is removed at once without a retention, even when another machine says that its run ends tomorrow', () => {
    expect(why({ idleSince: now + 24 * hourMs })).toBeNull();
  });

  it('handles a state with the name of an object property', () => {
    expect(why({ issue: { state: 'Closed' } }, { retentionMsByState: {} })).toBeNull();
    const wanted = settings({ tracker: { terminalStates: ['constructor', '__proto__'] } });
    const rules = { tracker: wanted.tracker, workspace: wanted.workspace, now, ignoresRetention: false };
    for (const state of ['constructor', '__proto__'])
      expect(whyItStays({ claim: null, isPinned: false, issue: { state }, idleSince: 0 }, rules)).toBeNull();
  });

  it('is never removed before the shortest retention', () => {
    fc.assert(
      fc.property(
        fc.nat(1_000),
        fc.dictionary(fc.constantFrom('done', 'closed'), fc.nat(1_000)),
        fc.constantFrom('Done', 'Closed', 'Duplicate'),
        fc.nat(2_000),
        (retentionMs, retentionMsByState, state, age) => {
          const { workspace } = settings({ workspace: { retentionMs, retentionMsByState } });
          const goes = why({ issue: { state }, idleSince: now - age }, workspace) === null;
          return !goes || age >= shortestRetention(workspace);
        },
      ),
    );
  });
});
