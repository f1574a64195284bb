import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSseParser, type SseMessage } from '../../dashboard/data/connection/sse-parser.ts';

function parsed(pieces: readonly string[]): readonly SseMessage[] {
  const messages: SseMessage[] = [];
  const push = createSseParser((message) => messages.push(message));
  for (const piece of pieces) push(piece);
  return messages;
}

/** Cuts a text at the given places. */
function cut(text: string, at: readonly number[]): readonly string[] {
  const places = [0, ...at.map((place) => place % (text.length + 1)).sort((a, b) => a - b), text.length];
  return places.slice(1).map((end, index) => text.slice(places[index], end));
}

describe('the parser of the event stream', () => {
  // @conforms dashboard.1
  it('returns the same messages for any cut of the stream and any line ends', () => {
    const line = fc.constantFrom(
      'data: a',
      'data:b',
      'data',
      'event: patch',
      'id: 7',
      ': comment',
      'retry: 5',
      '',
      'x:y',
    );
    const end = fc.constantFrom('\n', '\r', '\r\n');
    fc.assert(
      fc.property(fc.array(fc.tuple(line, end)), fc.array(fc.nat()), (lines, places) => {
        const text = lines.map(([words]) => `${words}\n`).join('');
        // A CR before the LF of the next line would be one line end; an empty line separates them.
        const mixed = lines.map(([words, ending]) => words + (words === '' ? '\n' : ending)).join('');
        const isAmbiguous = /\r(?:\n)/u.test(mixed.replaceAll('\r\n', '')) || mixed.includes('\r\n\n');
        expect(parsed(cut(text, places))).toEqual(parsed([text]));
        if (!isAmbiguous) expect(parsed(cut(mixed, places))).toEqual(parsed([mixed]));
      }),
    );
  });

  it('joins data lines, keeps the last id and names the event', () => {
    expect(parsed(['id: 3\nevent: patch\ndata: {\ndata: }\n\ndata: x\n\n'])).toEqual([
      { event: 'patch', data: '{\n}', id: '3' },
      { event: 'message', data: 'x', id: '3' },
    ]);
  });

  it('returns nothing for half a message, comments, and a message without data', () => {
    expect(parsed(['event: patch\ndata: {"a":1}\n'])).toEqual([]);
    expect(parsed([': still here\n\nevent: patch\n\nretry: 1000\n\n'])).toEqual([]);
  });

  it('treats CR and LF in two pieces as one line end', () => {
    expect(parsed(['data: a\r', '\n\r', '\ndata: b\r', '\n\r\n'])).toEqual([
      { event: 'message', data: 'a', id: null },
      { event: 'message', data: 'b', id: null },
    ]);
  });
});
