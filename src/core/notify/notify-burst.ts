/**
 * How many messages a target gets when many causes appear at once. What must hold: in any minute a target gets at most
 * `mostAMinute` single messages and one that contains everything else, with "and N more"; nothing is left out.
 */
const mostAMinute = 10;
const minuteMs = 60_000;

/** The messages that a target got lately, on the monotonic clock; repeated tries do not count. */
export interface SentLately {
  /** When messages about a single cause were sent. */
  readonly singlesAt: readonly number[];
  /** When the last message about all waiting causes was sent. */
  readonly severalAt: number | null;
}

export const nothingSent: SentLately = { singlesAt: [], severalAt: null };

export type BurstPlan =
  | { readonly send: 'each' }
  | { readonly send: 'together' }
  | { readonly send: 'nothing'; readonly until: number };

/** How to send `waiting` causes that a target has not received yet. */
export function planBurst(waiting: number, sent: SentLately, now: number): BurstPlan {
  const lately = sent.singlesAt.filter((at) => now - at < minuteMs).length;
  if (waiting + lately <= mostAMinute) return { send: 'each' };
  const opensAt = sent.severalAt === null ? now : sent.severalAt + minuteMs;
  return opensAt > now ? { send: 'nothing', until: opensAt } : { send: 'together' };
}

/** The same with one more message, sent by this plan. */
export function withSent(sent: SentLately, plan: 'each' | 'together', now: number): SentLately {
  if (plan === 'together') return { ...sent, severalAt: now };
  return { ...sent, singlesAt: [...sent.singlesAt.filter((at) => now - at < minuteMs), now] };
}
