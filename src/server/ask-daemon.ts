import { createConnection } from 'node:net';
import { createInterface } from 'node:readline';
import { type Clock, timedOut, within } from '../clock/clock.ts';

/** The daemon answers at once; one that does not is frozen or drowned. */
const answerMs = 5_000;
/** For an explanation it may have to ask its tracker first, and itself gives up before this. */
const explanationMs = 20_000;

export type DaemonQuestion = 'wake' | 'reload' | 'status' | { readonly explain: string };

/** Asks the daemon that listens at `path`; null when none does, or when it does not answer. */
export async function askDaemon(path: string, question: DaemonQuestion, clock: Clock): Promise<unknown> {
  const isPlain = typeof question === 'string';
  const request = isPlain ? { ask: question } : { ask: 'explain', issue: question.explain };
  const connection = createConnection(path);
  const answer = new Promise<unknown>((resolve) => {
    connection.on('error', () => resolve(null));
    connection.on('close', () => resolve(null));
    createInterface({ input: connection, crlfDelay: Number.POSITIVE_INFINITY })
      .on('error', () => resolve(null))
      .once('line', (line) => resolve(parse(line)));
    connection.write(`${JSON.stringify(request)}\n`);
  });
  try {
    const found = await within(clock, isPlain ? answerMs : explanationMs, answer);
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
