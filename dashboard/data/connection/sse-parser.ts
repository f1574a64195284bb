/** One message of an event stream (WHATWG HTML 9.2.6). */
export interface SseMessage {
  readonly event: string;
  readonly data: string;
  /** Null where the stream has sent none so far. */
  readonly id: string | null;
}

/**
 * Reads an event stream piece by piece, however it was cut. It emits a message at its empty line, so half a message at
 * the end of a broken connection is never taken for a whole one.
 */
export function createSseParser(take: (message: SseMessage) => void): (piece: string) => void {
  let rest = '';
  let event = '';
  let data: string[] = [];
  let id: string | null = null;
  /** Until it is known whether the line feed of a CR LF follows. */
  let endedWithReturn = false;

  const field = (name: string, value: string): void => {
    if (name === 'event') event = value;
    else if (name === 'data') data.push(value);
    else if (name === 'id' && !value.includes('\0')) id = value;
  };
  const line = (text: string): void => {
    if (text === '') {
      if (data.length > 0) take({ event: event === '' ? 'message' : event, data: data.join('\n'), id });
      event = '';
      data = [];
      return;
    }
    const colon = text.indexOf(':');
    if (colon === 0) return;
    if (colon === -1) field(text, '');
    else field(text.slice(0, colon), text.slice(text[colon + 1] === ' ' ? colon + 2 : colon + 1));
  };

  return (piece) => {
    if (piece === '') return;
    rest += endedWithReturn && piece.startsWith('\n') ? piece.slice(1) : piece;
    endedWithReturn = rest.endsWith('\r');
    const lines = rest.split(/\r\n|\r|\n/u);
    rest = lines.pop() ?? '';
    for (const each of lines) line(each);
  };
}
