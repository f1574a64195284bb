// @module-tag full
import { describe, expect, it } from 'vitest';
import {
  addIssue,
  boardWorkflow,
  liveTest,
  runsOf,
  soon,
  startDaemon,
  stopDaemon,
  untilDone,
  untilStatus,
} from './live-daemon.ts';
import { baton, leaveNoPlaces, Place } from './run-baton.ts';

leaveNoPlaces();

/** It would look by itself after an hour. */
describe('a change on the board from another process', liveTest, () => {
  // @conforms board.20
  it('wakes the daemon at once: a new issue starts, a cancelled one is stopped', async () => {
    using place = new Place();
    place.write('WORKFLOW.md', boardWorkflow());
    const daemon = await startDaemon(place);
    // The first look has found nothing.
    await untilStatus(place, { polling: { ticks: 1, poll_check_in_progress: false }, running: [] });

    expect(await addIssue(place, untilDone)).toBe('BAT-1');
    await untilStatus(place, {
      running: [{ issue_identifier: 'BAT-1', state: 'in_progress', last_message: 'at work' }],
    });
    const before = place.pids().length;

    const blocked = await addIssue(place, 'echo never', '--blocked-by', 'BAT-1');
    await untilStatus(place, {
      skipped: expect.arrayContaining([expect.objectContaining({ issue_identifier: blocked, code: 'blocked' })]),
    });

    expect((await baton(place, 'issue', 'move', 'BAT-1', 'cancelled')).code).toBe(0);
    await untilStatus(place, { running: [{ issue_identifier: blocked }] });
    await soon(async () => {
      const [first] = await runsOf(place);
      expect(first).toMatchObject({ issue_identifier: 'BAT-1', outcome: 'canceled_by_reconciliation' });
    });
    expect(before).toBeGreaterThan(2);
    await stopDaemon(daemon);
    expect(place.pids()).toEqual([]);
  });
});
