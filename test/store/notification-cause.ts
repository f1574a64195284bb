import type { NotifyCause } from '../../src/core/notify/notify-cause.ts';

/** A cause with this key, everything else in it optional. */
export function cause(key: string, over: Partial<NotifyCause> = {}): NotifyCause {
  return {
    key,
    event: 'held',
    nature: 'lasting',
    issue: { id: 'i1', identifier: 'BAT-1', title: 'Mend the door', url: null },
    runId: 'r1',
    code: 'retries_exhausted',
    reason: 'its last 3 runs failed',
    since: 10,
    actions: ['baton issue retry BAT-1'],
    ...over,
  };
}
