import { createConnection } from 'node:net';
import { createInterface } from 'node:readline';
import { type Clock, timedOut, within } from '../clock/clock.ts';

/** The daemon answers at once; one that does not is frozen or drowned. */
const answerMs = 5_000;

/** Asks the daemon that listens at `path`; null when none does, or when it does not answer. */
export async function askDaemon(path: string, question: 'wake' | 'reload' | 'status', clock: Clock): Promise<unknown> {
  const connection = createConnection(path);
  const answer = new Promise<unknown>((resolve) => {
    connection.on('error', () => resolve(null));
    connection.on('close', () => resolve(null));
    createInterface({ input: connection, crlfDelay: Number.POSITIVE_INFINITY })
      .on('error', () => resolve(null))
      .once('line', (line) => resolve(parse(line)));
    connection.write(`${JSON.stringify({ ask: question })}\n`);
  });
  try {
    const found = await within(clock, answerMs, answer);
    return found === timedOut ? null : found;
  } finally {
    connection.destroy();
  }
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}
