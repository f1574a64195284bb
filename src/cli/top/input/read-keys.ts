import type { Clock, Timer } from '../../../clock/clock.ts';
import { decodeKeys, type Key, pasteBegins, pasteEnds } from './decode-keys.ts';

/** A terminal sends a sequence in one piece; on a slow line its pieces arrive within this time. */
const sequenceMs = 50;
/** No command takes a longer text. */
const longestPaste = 1_000_000;

/**
 * Calls `onKeys` with the typed keys, until the returned function is called. What must hold: a paste lasts until its
 * end mark, however long it is and however it pauses. A paste that is too long is dropped completely; no part of it
 * ever becomes a key.
 */
export function readKeys(stdin: NodeJS.ReadStream, clock: Clock, onKeys: (keys: readonly Key[]) => void): () => void {
  const decoder = new TextDecoder();
  let waiting = '';
  let timer: Timer | null = null;
  let isTooLong = false;
  /** A lone escape was taken for the Escape key, because nothing followed in time. */
  let hasGuessed = false;
  const take = (isAll: boolean): void => {
    timer?.cancel();
    timer = null;
    const { keys, rest } = decodeKeys(waiting, isAll);
    waiting = rest;
    if (rest.length > longestPaste && rest.startsWith(pasteBegins)) dropPaste();
    // Only a terminal sends `ESC [`: it is not a key, and the rest of the sequence will arrive.
    else if (rest !== '' && !rest.startsWith('\u001b[')) {
      timer = clock.schedule(sequenceMs, () => {
        hasGuessed = rest === '\u001b';
        take(true);
      });
    }
    if (keys.length > 0) onKeys(keys);
  };
  /** Keeps only what may be the beginning of the end mark. */
  const dropPaste = (): void => {
    isTooLong = true;
    waiting = waiting.slice(1 - pasteEnds.length);
  };
  const onData = (chunk: Buffer | string): void => {
    const sent = typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true });
    // The guessed escape began a paste: no one types the rest of the mark.
    const isBegun = hasGuessed && waiting === '' && sent.startsWith(pasteBegins.slice(1));
    hasGuessed = false;
    waiting += isBegun ? `\u001b${sent}` : sent;
    const end = isTooLong ? waiting.indexOf(pasteEnds) : -1;
    if (end !== -1) {
      isTooLong = false;
      waiting = waiting.slice(end + pasteEnds.length);
    }
    if (isTooLong) dropPaste();
    else take(false);
  };
  stdin.on('data', onData);
  return () => {
    timer?.cancel();
    stdin.off('data', onData);
  };
}
