import { jsonLine } from '../src/cli/json-line.ts';
import type { Clock } from '../src/clock/clock.ts';
import { readyPhase } from '../src/core/pipeline/phase.ts';
import type { Output } from '../src/daemon/surroundings.ts';
import { type IssueRow, statusWords, timeOfDay } from './issue-rows.ts';

export interface LinesOptions {
  /** Reads the issues as they are now. */
  readonly rows: () => Promise<readonly IssueRow[]>;
  readonly json: boolean;
  readonly output: Output;
  readonly clock: Clock;
  /** What to say about the issues as they are now, once; null for nothing. */
  readonly remark?: (rows: readonly IssueRow[]) => Announcement | null;
}

/** Printed once, apart from the lines of the issues. */
export interface Announcement {
  readonly lines: readonly string[];
  /** The same for programs. */
  readonly json: Readonly<Record<string, unknown>>;
}

export interface Lines {
  /** Something changed. */
  show(): void;
  say(announcement: Announcement): void;
  /** Resolves when the last state is printed. */
  close(): Promise<void>;
}

/**
 * Prints a line whenever an issue enters another status or phase, the same on a terminal and in a pipe. As JSON also whenever its
 * detail changes.
 */
export function openLines({ rows, json, output, clock, remark = () => null }: LinesOptions): Lines {
  const last = new Map<string, string>();
  const phases = new Map<string, string>();
  let printing: Promise<void> | null = null;
  let changed = false;
  const printRow = (row: IssueRow): void => {
    // Before the first poll there is nothing to say about an issue.
    if (row.status === 'waiting' && row.detail === '') return;
    const phase = row.phase ?? phases.get(row.identifier) ?? readyPhase;
    phases.set(row.identifier, phase);
    const news = `${row.status} ${phase} ${json ? row.detail : row.code}`;
    if (last.get(row.identifier) === news) return;
    last.set(row.identifier, news);
    const now = clock.now();
    const prepared = phase === readyPhase ? '' : `${phase}: `;
    const text = `${statusWords[row.status].padEnd(8)} ${prepared}${row.detail}`.trimEnd();
    output.write(
      json ? jsonLine({ time: new Date(now).toISOString(), ...row }) : `${timeOfDay(now)} ${row.identifier} ${text}\n`,
    );
  };
  const print = async (): Promise<void> => {
    do {
      changed = false;
      const seen = await rows();
      // Ended runs come before those that begin in their place.
      for (const row of seen.toSorted((left, right) => Number(isRunning(left)) - Number(isRunning(right))))
        printRow(row);
      const remarked = remark(seen);
      if (remarked !== null) say(remarked);
    } while (changed);
  };
  const say = ({ lines, json: facts }: Announcement): void => {
    if (json) output.write(jsonLine({ time: new Date(clock.now()).toISOString(), ...facts }));
    else output.write(lines.map((line) => `${line}\n`).join(''));
  };
  const show = (): Promise<void> => {
    changed = true;
    printing ??= print()
      .catch(() => {
        // Rows that cannot be read now are printed with the next change; the log has the reason.
      })
      .finally(() => {
        printing = null;
      });
    return printing;
  };
  return {
    show: () => void show(),
    say: (announcement) => {
      say(announcement);
      void show();
    },
    close: async () => {
      await printing;
      await show();
    },
  };
}

function isRunning({ status }: IssueRow): boolean {
  return status === 'running';
}
