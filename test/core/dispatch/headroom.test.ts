import { describe, expect, it } from 'vitest';
import { type Headroom, whyNoHeadroom } from '../../../src/core/dispatch/headroom.ts';
import { settings } from '../../fake/settings.ts';
import { telling } from '../../telling.ts';

const disk = (...freeMb: (number | null)[]): Headroom['disk'] =>
  freeMb.map((each, index) => ({ folder: `/folder-${index}`, freeMb: each }));
const why = (room: Partial<Headroom>, floors: { disk?: number; memory?: number } = {}) =>
  whyNoHeadroom(
    { disk: [], memoryMb: null, ...room },
    settings({
      workspace: { minFreeDiskMb: floors.disk ?? 250 },
      agent: { minFreeMemoryMb: floors.memory ?? 250 },
    }),
  );

describe('headroom', () => {
  // @conforms limits.13
  it.each<[string, Partial<Headroom>, { disk?: number; memory?: number }]>([
    ['as much as the floor', { disk: disk(250, 250), memoryMb: 250 }, {}],
    ['unknown disk', { disk: disk(null) }, {}],
    ['unknown memory', { memoryMb: null }, {}],
    ['nothing at all, without floors', { disk: disk(0), memoryMb: 0 }, { disk: 0, memory: 0 }],
  ])('is enough with %s', (_what, room, floors) => {
    expect(why(room, floors)).toBeNull();
  });

  // @conforms limits.12
  it.each<[string, Partial<Headroom>, (string | number)[]]>([
    [
      'the first folder under the floor',
      { disk: disk(120, 3), memoryMb: 1 },
      [120, '/folder-0', 'workspace.min_free_disk_mb', 250],
    ],
    ['the state folder too', { disk: disk(null, 249) }, [249, '/folder-1', 'workspace.min_free_disk_mb', 250]],
    ['memory', { disk: disk(1_000), memoryMb: 249 }, [249, 'agent.min_free_memory_mb', 250]],
  ])('is too low for %s, and the reason has the numbers', (_what, room, data) => {
    expect(why(room)).toEqual({ code: 'no_headroom', text: telling(...data) });
  });

  it('applies each minimum to its own resource', () => {
    expect(why({ disk: disk(0), memoryMb: 300 }, { disk: 0 })).toBeNull();
    expect(why({ disk: disk(300), memoryMb: 0 }, { memory: 0 })).toBeNull();
  });
});
