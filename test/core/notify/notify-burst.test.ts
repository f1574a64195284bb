import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nothingSent, planBurst, withSent } from '../../../src/core/notify/notify-burst.ts';

describe('a burst', () => {
  it('sends up to ten single messages, or one about all causes', () => {
    expect(planBurst(10, nothingSent, 0)).toEqual({ send: 'each' });
    expect(planBurst(11, nothingSent, 0)).toEqual({ send: 'together' });
  });

  it('counts the messages of the last minute', () => {
    const sent = withSent(withSent(nothingSent, 'each', 0), 'each', 30_000);
    expect(planBurst(8, sent, 59_999)).toEqual({ send: 'each' });
    expect(planBurst(9, sent, 59_999)).toEqual({ send: 'together' });
    expect(planBurst(9, sent, 60_000)).toEqual({ send: 'each' });
  });

  it('waits a minute between two messages about several causes', () => {
    const sent = withSent(nothingSent, 'together', 1_000);
    expect(planBurst(11, sent, 60_999)).toEqual({ send: 'nothing', until: 61_000 });
    expect(planBurst(11, sent, 61_000)).toEqual({ send: 'together' });
    expect(planBurst(3, sent, 2_000)).toEqual({ send: 'each' });
  });

  it('sends at most eleven messages in any minute, and leaves no cause out', () => {
    const arrivals = fc.array(
      fc.tuple(fc.oneof(fc.nat(3_000), fc.nat(40_000)), fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 30 }))),
      {
        minLength: 20,
        maxLength: 60,
      },
    );
    fc.assert(
      fc.property(arrivals, (steps) => {
        let [now, waiting, sent, all, told] = [0, 0, nothingSent, 0, 0];
        const messagesAt: number[] = [];
        const send = (): void => {
          for (;;) {
            const plan = planBurst(waiting, sent, now);
            if (waiting === 0 || plan.send === 'nothing') return;
            const causes = plan.send === 'each' ? 1 : waiting;
            sent = withSent(sent, plan.send, now);
            messagesAt.push(now);
            waiting -= causes;
            told += causes;
          }
        };
        for (const [waitMs, causes] of steps) {
          now += waitMs;
          waiting += causes;
          all += causes;
          send();
        }
        now += 60_000;
        send();
        expect(told).toBe(all);
        for (const at of messagesAt) {
          expect(messagesAt.filter((other) => other >= at && other - at < 60_000).length).toBeLessThanOrEqual(11);
        }
      }),
    );
  });
});
