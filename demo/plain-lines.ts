import { jsonLine } from '../src/cli/json-line.ts';
import type { Clock } from '../src/clock/clock.ts';
import type { Output } from '../src/daemon/surroundings.ts';
import { statusWords, type TicketRow, timeOfDay } from './ticket-rows.ts';

/** Shows the tickets as lines, one whenever something about a ticket changed: for pipes and log files. */
export function plainLines(output: Output, clock: Clock, json: boolean): (rows: readonly TicketRow[]) => void {
  const last = new Map<string, string>();
  return (rows) => {
    // What has ended is told before what begins in its place.
    for (const row of rows.toSorted((left, right) => Number(isRunning(left)) - Number(isRunning(right)))) {
      // Before the first look there is nothing to say about a ticket.
      if (row.status === 'waiting' && row.detail === '') continue;
      const text = `${statusWords[row.status].padEnd(8)} ${row.detail}`.trimEnd();
      if (last.get(row.identifier) === text) continue;
      last.set(row.identifier, text);
      const now = clock.now();
      output.write(
        json
          ? jsonLine({ time: new Date(now).toISOString(), ...row })
          : `${timeOfDay(now)} ${row.identifier} ${text}\n`,
      );
    }
  };
}

function isRunning({ status }: TicketRow): boolean {
  return status === 'running';
}
