import { describe, expect, it } from 'vitest';
import { type RoomLeft, whyNoRoom } from '../../../src/core/dispatch/headroom.ts';
import { settings } from '../../fake/settings.ts';
import { telling } from '../../telling.ts';

const disk = (...freeMb: (number | null)[]): RoomLeft['disk'] =>
  freeMb.map((each, index) => ({ folder: `/folder-${index}`, freeMb: each }));
const why = (room: Partial<RoomLeft>, floors: { disk?: number; memory?: number } = {}) =>
  whyNoRoom(
    { disk: [], memoryMb: null, ...room },
    settings({
      workspace: { minFreeDiskMb: floors.disk ?? 250 },
      agent: { minFreeMemoryMb: floors.memory ?? 250 },
    }),
  );

describe('the room for new work', () => {
  // @conforms limits.13
  it.each<[string, Partial<RoomLeft>, { disk?: number; memory?: number }]>([
    ['as much as the floor', { disk: disk(250, 250), memoryMb: 250 }, {}],
    ['unknown disk', { disk: disk(null) }, {}],
    ['unknown memory', { memoryMb: null }, {}],
    ['nothing at all, without floors', { disk: disk(0), memoryMb: 0 }, { disk: 0, memory: 0 }],
  ])('is enough with %s', (_what, room, floors) => {
    expect(why(room, floors)).toBeNull();
  });

  // @conforms limits.12
  it.each<[string, Partial<RoomLeft>, (string | number)[]]>([
    [
      'the first folder under the floor',
      { disk: disk(120, 3), memoryMb: 1 },
      [120, '/folder-0', 'workspace.min_free_disk_mb', 250],
    ],
    ['the state folder too', { disk: disk(null, 249) }, [249, '/folder-1', 'workspace.min_free_disk_mb', 250]],
    ['memory', { disk: disk(1_000), memoryMb: 249 }, [249, 'agent.min_free_memory_mb', 250]],
  ])('is too little for %s, and the numbers are told', (_what, room, data) => {
    expect(why(room)).toEqual({ code: 'no_room', text: telling(...data) });
  });

  it('keeps each floor to its own kind', () => {
    expect(why({ disk: disk(0), memoryMb: 300 }, { disk: 0 })).toBeNull();
    expect(why({ disk: disk(300), memoryMb: 0 }, { memory: 0 })).toBeNull();
  });
});
