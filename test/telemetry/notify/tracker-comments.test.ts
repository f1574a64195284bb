import { describe, expect, it } from 'vitest';
import { BatonError } from '../../../src/core/baton-error.ts';
import type { CommentOnIssue } from '../../../src/telemetry/notify/send-message.ts';
import { scratchStore } from '../../fake/scratch-store.ts';
import { begin, dayLimit, facts, held, midDay, type SceneOptions } from './notify-scene.ts';

const hour = 3_600_000;

type Comment = Parameters<CommentOnIssue>[0];

/** A notifier whose tracker takes comments, unless `fail` says otherwise. */
async function commenting(over: Partial<SceneOptions> = {}, fail: (tries: number) => BatonError | null = () => null) {
  const clock = over.clock ?? midDay();
  const store = over.store ?? (await scratchStore(clock));
  const comments: Comment[] = [];
  const comment: CommentOnIssue = async (wanted) => {
    comments.push(wanted);
    const error = fail(comments.length);
    if (error !== null) throw error;
  };
  const scene = begin({ notify: {}, comments: true, ...over, store, clock, more: { comment } });
  return { ...scene, store, comments };
}

describe('comments on held issues', () => {
  it('give the reason and the command that continues, one comment for each issue', async () => {
    const { notifier, clock, comments } = await commenting();
    const many = Array.from({ length: 15 }, (_, at) => held(at + 1));
    notifier.update(facts(...many));
    await clock.advance(hour);
    expect(comments.map(({ issueId }) => issueId).toSorted()).toEqual(many.map(({ issue }) => issue?.id).toSorted());
    expect(comments.find(({ issueId }) => issueId === 'i1')).toMatchObject({
      isRepeated: false,
      body: expect.stringMatching(/its last 3 runs failed: exit 1\n[\s\S]*`baton issue retry SHOP-1`/),
    });
  });

  it('are written once for each hold, also after a restart', async () => {
    const first = await commenting();
    first.notifier.update(facts(held(1)));
    await first.clock.advance(hour);
    await first.notifier.close();
    const second = await commenting({ store: first.store, clock: first.clock, seed: 2 });
    second.notifier.update(facts(held(1)));
    await second.clock.advance(hour);
    expect([first.comments.length, second.comments.length]).toEqual([1, 0]);
    second.notifier.update(facts(held(1, { since: second.clock.now() })));
    await second.clock.advance(hour);
    expect(second.comments).toHaveLength(1);
    expect(second.comments[0]?.body.split('\n')[0]).not.toBe(first.comments[0]?.body.split('\n')[0]);
  });

  it('are about issues that had a run, and not about what a person did', async () => {
    const { notifier, clock, comments } = await commenting();
    const review = held(4, { kind: 'review', code: 'in_review' });
    notifier.update(facts(held(1, { runId: null }), held(2, { code: 'person' }), dayLimit('2026-01-05'), review));
    await clock.advance(hour);
    expect(comments).toEqual([]);
  });

  it('are tried again, marked as repeated, and given up after a day', async () => {
    const down = new BatonError('tracker_request', 'the tracker does not answer');
    const { notifier, clock, comments, logger } = await commenting({}, (tries) => (tries < 3 ? down : null));
    notifier.update(facts(held(1)));
    await clock.advance(6 * hour);
    expect(comments.map(({ isRepeated }) => isRepeated)).toEqual([false, true, true]);
    expect(logger.events()).toContain('notification_sent');

    const never = await commenting({}, () => down);
    never.notifier.update(facts(held(1)));
    await never.clock.advance(48 * hour);
    expect(never.logger.events()).toContain('notification_given_up');
    const tries = never.comments.length;
    await never.clock.advance(48 * hour);
    expect(never.comments).toHaveLength(tries);
  });

  it('are not written unless the file asks for them', async () => {
    const { notifier, clock, comments } = await commenting({ comments: false });
    notifier.update(facts(held(1)));
    await clock.advance(hour);
    expect(comments).toEqual([]);
  });
});
