import { expect, it } from 'vitest';
import { harmlessLine, harmlessLines } from '../../../src/core/text/harmless-line.ts';

it.each([
  ['colours', '\u001b[31mred\u001b[0m', 'red'],
  ['a new window title', '\u001b]0;owned\u0007text', 'text'],
  ['line feeds and tabs', ' a\r\n\tb ', 'a b'],
  ['C1 controls', 'a\u009b31mb', 'a 31mb'],
  ['marks that turn the direction', 'abc\u202edef\u2066', 'abc def'],
])('returns one line without %s', (_what, text, harmless) => {
  expect(harmlessLine(text)).toBe(harmless);
});

it('keeps lines and indentation of a long text', () => {
  expect(harmlessLines('one\r\n\ttwo\u001b[2J\n  three\u202e\u0000!')).toBe('one\n    two\n  three  !');
  expect(harmlessLines('a\u2028b')).toBe('a b');
});
