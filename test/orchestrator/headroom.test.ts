import { describe, expect, it } from 'vitest';
import type { Headroom } from '../../src/core/dispatch/headroom.ts';
import { issue } from '../fake/issues.ts';
import { settings } from '../fake/settings.ts';
import { telling } from '../telling.ts';
import { begun, plentyOfRoom, type StagedRoom, scene } from './scene.ts';

/** Room that a test can take and give. */
function roomOf(freeMb: number, memoryMb = 1_000_000): StagedRoom & { disk: number; memory: number; reads: number } {
  const room = {
    disk: freeMb,
    memory: memoryMb,
    reads: 0,
    read: async (): Promise<Headroom> => {
      room.reads += 1;
      return { disk: [{ folder: '/data', freeMb: room.disk }], memoryMb: room.memory };
    },
  };
  return room;
}

const text = telling(120, '/data', 'workspace.min_free_disk_mb', 250);
const two = [issue({ id: '1' }), issue({ id: '2' })];

describe('below the minimum of free disk or memory', () => {
  // @conforms limits.14
  it('nothing new starts from the first tick on, and status, explanation and health give the reason', async () => {
    const stage = await begun({ room: roomOf(120) });
    await stage.clock.advance(5_000);
    expect(stage.started()).toEqual([]);
    expect(stage.orchestrator.read().skipped).toMatchObject([{ reason: { code: 'no_headroom', text } }]);
    expect(await stage.orchestrator.explain('1')).toMatchObject({
      reason: { code: 'no_headroom' },
      nextCode: 'waits',
      next: text,
    });
    expect(stage.health.at(-1)?.noHeadroom).toEqual(text);
    expect(stage.logger.lines.filter(({ event }) => event === 'headroom_low')).toHaveLength(1);
  });

  it('memory counts like disk', async () => {
    const stage = await begun({ room: roomOf(1_000, 99) });
    await stage.clock.advance(2_000);
    expect(stage.started()).toEqual([]);
    expect(stage.orchestrator.read().skipped[0]?.reason).toEqual({
      code: 'no_headroom',
      text: telling(99, 'agent.min_free_memory_mb', 250),
    });
  });

  // @conforms limits.15
  it('live runs continue, and waiting issues start when there is headroom again', async () => {
    const room = roomOf(1_000);
    const one = settings({ intervalMs: 100, agent: { maxConcurrentAgents: 1 } });
    const stage = await begun({ room, issues: two, settings: one });
    expect(stage.started()).toEqual(['1']);
    room.disk = 120;
    await stage.clock.advance(2_000);
    expect(stage.runs[0]?.stops).toEqual([]);
    await stage.tracker.changes.moveIssue('1', 'Done', { kind: 'orchestrator' });
    stage.runs[0]?.succeed();
    await stage.clock.advance(10_000);
    expect(stage.started()).toEqual(['1']);
    room.disk = 250;
    await stage.clock.advance(1_200);
    expect(stage.started()).toEqual(['1', '2']);
    expect(stage.health.at(-1)?.noHeadroom).toBeNull();
    expect(stage.logger.lines.filter(({ event }) => event === 'headroom_back')).toHaveLength(1);
  });

  it('new issues start soon after there is headroom, also with rare ticks', async () => {
    const room = roomOf(120);
    const stage = await begun({ room, settings: settings({ intervalMs: 3_600_000 }) });
    room.disk = 1_000;
    await stage.clock.advance(5_100);
    expect(stage.started()).toEqual(['1']);
  });

  // @conforms limits.16
  it('a due retry waits, keeps its attempt, and starts when there is headroom, also with rare ticks', async () => {
    const room = roomOf(1_000);
    const stage = await begun({ room, settings: settings({ intervalMs: 60_000 }) });
    stage.runs[0]?.fail();
    await stage.clock.advance(0);
    room.disk = 120;
    await stage.clock.advance(40_000);
    expect(stage.started()).toEqual(['1']);
    expect(stage.orchestrator.read().retrying).toMatchObject([
      { attempt: 1, waitCode: 'no_headroom', waitReason: text },
    ]);
    room.disk = 1_000;
    await stage.clock.advance(6_100);
    expect(stage.runs[1]?.request).toMatchObject({ attempt: 1, retryKind: 'failure' });
    expect(stage.orchestrator.read().held).toEqual([]);
  });

  it('a retry by a person still waits', async () => {
    const room = roomOf(1_000);
    const stage = await begun({ room });
    stage.runs[0]?.fail();
    await stage.clock.advance(0);
    room.disk = 120;
    await stage.clock.advance(1_100);
    expect(await stage.command('issue_retry', { issue: '1' })).toMatchObject({ status: 'done' });
    await stage.clock.advance(3_000);
    expect(stage.started()).toEqual(['1']);
  });

  it('an edit that lowers the minimum lets work start', async () => {
    const stage = await begun({ room: roomOf(120) });
    stage.file.settings = settings({ intervalMs: 100, workspace: { minFreeDiskMb: 100 } });
    await stage.clock.advance(1_200);
    expect(stage.started()).toEqual(['1']);
  });

  it('a visitor gets the same reason', async () => {
    const stage = await scene({ issues: two, room: roomOf(120) });
    expect((await stage.orchestrator.preview()).map(({ reason }) => reason?.code)).toEqual([
      'no_headroom',
      'no_headroom',
    ]);
    expect((await stage.orchestrator.explain('1', 'visitor')).reason?.code).toBe('no_headroom');
  });
});

describe('a reading of the headroom', () => {
  it('serves all callers for a second', async () => {
    const room = roomOf(1_000);
    const many = Array.from({ length: 30 }, (_, index) => issue({ id: String(index) }));
    const stage = await begun({ room, issues: many, settings: settings({ intervalMs: 10 }) });
    await stage.clock.advance(10_000);
    expect(stage.started()).toHaveLength(10);
    expect(room.reads).toBeGreaterThan(5);
    expect(room.reads).toBeLessThanOrEqual(11);
  });

  // @conforms limits.17
  it('that hangs delays a start by a second and no tick, and no second one runs', async () => {
    let reads = 0;
    const hung: StagedRoom = {
      read: () => {
        reads += 1;
        return new Promise(() => {});
      },
    };
    const stage = await begun({ room: hung, issues: two });
    await stage.clock.advance(900);
    expect(stage.health.length).toBeGreaterThan(5);
    expect(stage.health.every(({ tick }) => tick.durationMs === 0)).toBe(true);
    expect(stage.started()).toEqual([]);
    await stage.clock.advance(200);
    expect(stage.started()).toEqual(['1', '2']);
    stage.runs[0]?.fail();
    await stage.clock.advance(11_000);
    expect(stage.started()).toEqual(['1', '2', '1']);
    expect(reads).toBe(1);
    const told = stage.logger.lines.filter(({ event }) => event === 'headroom_unreadable');
    expect(told).toHaveLength(1);
  });

  it.each(['a rejection', 'a throw'])('that fails by %s refuses nothing, and the next reading counts', async (how) => {
    const room = roomOf(120);
    const good = room.read;
    const broken = new Error('no such device');
    room.read =
      how === 'a throw'
        ? () => {
            throw broken;
          }
        : async () => Promise.reject(broken);
    const stage = await begun({ room });
    expect(stage.started()).toEqual(['1']);
    room.read = good;
    await stage.tracker.changes.moveIssue('1', 'Done', { kind: 'orchestrator' });
    stage.runs[0]?.succeed();
    await stage.clock.advance(5_000);
    expect(stage.health.at(-1)?.noHeadroom).toEqual(text);
  });

  it('that hangs after a low one is unknown, and refuses nothing', async () => {
    const room = roomOf(120);
    const stage = await begun({ room });
    expect(stage.started()).toEqual([]);
    room.read = () => new Promise(() => {});
    await stage.clock.advance(2_300);
    expect(stage.started()).toEqual(['1']);
    room.read = plentyOfRoom().read;
  });
});
