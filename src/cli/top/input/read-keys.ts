import type { Clock, Timer } from '../../../clock/clock.ts';
import { decodeKeys, type Key, pasteBegins, pasteEnds } from './decode-keys.ts';

/** A terminal sends a sequence in one piece; over a slow line its pieces are not further apart than this. */
const sequenceMs = 50;
/** More is text that no command takes. */
const longestPaste = 1_000_000;

/**
 * Calls `onKeys` with what is typed, until the returned function is called. What must hold: a paste lasts until its end
 * mark, however long it is and however it pauses. One that is too long is dropped whole; nothing of it is ever a key.
 */
export function readKeys(stdin: NodeJS.ReadStream, clock: Clock, onKeys: (keys: readonly Key[]) => void): () => void {
  const decoder = new TextDecoder();
  let waiting = '';
  let timer: Timer | null = null;
  let isTooLong = false;
  /** An escape was taken for the key because nothing followed in time. */
  let hasGuessed = false;
  const take = (isAll: boolean): void => {
    timer?.cancel();
    timer = null;
    const { keys, rest } = decodeKeys(waiting, isAll);
    waiting = rest;
    if (rest.length > longestPaste && rest.startsWith(pasteBegins)) dropPaste();
    // Of what follows `ESC [` only a terminal sends the beginning; it is no key, and its end will come.
    else if (rest !== '' && !rest.startsWith('\u001b[')) {
      timer = clock.schedule(sequenceMs, () => {
        hasGuessed = rest === '\u001b';
        take(true);
      });
    }
    if (keys.length > 0) onKeys(keys);
  };
  /** As much is kept as may be the beginning of the end mark. */
  const dropPaste = (): void => {
    isTooLong = true;
    waiting = waiting.slice(1 - pasteEnds.length);
  };
  const onData = (chunk: Buffer | string): void => {
    const sent = typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true });
    // What was guessed began a paste: no one types the rest of the mark.
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
