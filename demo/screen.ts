import { jsonLine } from '../src/cli/json-line.ts';
import type { Timer } from '../src/clock/clock.ts';
import { systemClock } from '../src/clock/system-clock.ts';
import type { Surroundings } from '../src/daemon/surroundings.ts';
import { liveTable } from './live-table.ts';
import { plainLines } from './plain-lines.ts';
import type { TicketRow } from './ticket-rows.ts';

/** The table is drawn at most this often; a person does not see more. */
const drawEveryMs = 100;

export interface ScreenOptions {
  /** What is to be seen now. */
  readonly rows: () => Promise<readonly TicketRow[]>;
  readonly footer: () => string;
  readonly json: boolean;
  readonly output: Pick<Surroundings, 'stdout' | 'env'>;
}

/** Something to be told once, beside the tickets. */
export interface Announcement {
  readonly lines: readonly string[];
  /** The same for programs. */
  readonly json: Readonly<Record<string, unknown>>;
}

export interface Screen {
  /** Something changed. */
  show(): void;
  say(announcement: Announcement): void;
  /** Shows the last state; resolves when it stands there. */
  close(): Promise<void>;
}

/** Shows the tickets: a table drawn over itself on a terminal, otherwise a line for each change. One picture at a time. */
export function openScreen({ rows, footer, json, output: { stdout, env } }: ScreenOptions): Screen {
  const isTable = stdout.isTTY === true && !json;
  const table = liveTable(stdout, !env.NO_COLOR);
  const lines = plainLines(stdout, systemClock, json);
  let timer: Timer | null = null;
  let drawing: Promise<void> | null = null;
  let changed = false;
  const draw = async (): Promise<void> => {
    do {
      changed = false;
      const seen = await rows();
      if (isTable) table.draw(seen, footer());
      else lines(seen);
    } while (changed && !isTable);
  };
  const begin = (): Promise<void> => {
    timer = null;
    changed = true;
    drawing ??= draw()
      .catch(() => {
        // What cannot be read now is shown with the next change; the log has the reason.
      })
      .finally(() => {
        drawing = null;
      });
    return drawing;
  };
  const show = (): void => {
    if (isTable) timer ??= systemClock.schedule(drawEveryMs, () => void begin());
    else void begin();
  };
  return {
    show,
    say: ({ lines: words, json: told }) => {
      if (isTable) table.say(words);
      else if (json) stdout.write(jsonLine({ time: new Date(systemClock.now()).toISOString(), ...told }));
      else stdout.write(words.map((line) => `${line}\n`).join(''));
      show();
    },
    close: async () => {
      timer?.cancel();
      await drawing;
      await begin();
    },
  };
}
