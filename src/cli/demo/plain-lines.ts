import type { Clock } from '../../clock/clock.ts';
import type { Output } from '../surroundings.ts';
import type { TicketRow } from './ticket-rows.ts';

/** Shows the tickets as lines, one whenever something about a ticket changed: for pipes and log files. */
export function plainLines(output: Output, clock: Clock, json: boolean): (rows: readonly TicketRow[]) => void {
  const last = new Map<string, string>();
  return (rows) => {
    // What has ended is told before what begins in its place.
    for (const row of rows.toSorted((left, right) => Number(isRunning(left)) - Number(isRunning(right)))) {
      // Before the first look there is nothing to say about a ticket.
      if (row.status === 'waiting' && row.detail === '') continue;
      const text = `${row.status.padEnd(8)} ${row.detail}`.trimEnd();
      if (last.get(row.identifier) === text) continue;
      last.set(row.identifier, text);
      const time = new Date(clock.now()).toISOString();
      output.write(
        json ? `${JSON.stringify({ time, ...row })}\n` : `${time.slice(11, 19)} ${row.identifier} ${text}\n`,
      );
    }
  };
}

function isRunning({ status }: TicketRow): boolean {
  return status === 'running';
}
