import { expect, it } from 'vitest';
import { harmlessLine, harmlessLines } from '../../../src/core/text/harmless-line.ts';

it.each([
  ['colours', '\u001b[31mred\u001b[0m', '␛[31mred␛[0m'],
  ['a new window title', '\u001b]0;owned\u0007text', '␛]0;owned␇text'],
  ['C1 controls', 'a\u009b31mb', 'a⟦U+009B⟧31mb'],
  ['marks that turn the direction', 'abc\u202edef\u2066', 'abc⟦U+202E⟧def⟦U+2066⟧'],
])('shows what would steer a terminal: %s', (_what, text, harmless) => {
  expect(harmlessLine(text)).toBe(harmless);
});

it('makes one line of many', () => {
  expect(harmlessLine(' a\r\n\tb ')).toBe('a b');
});

it('keeps lines and indentation where there are many', () => {
  expect(harmlessLines('one\r\n\ttwo\u001b[2J\n  three\u202e\u0000!')).toBe('one\n    two␛[2J\n  three⟦U+202E⟧␀!');
  expect(harmlessLines('a\u2028b')).toBe('a⟦U+2028⟧b');
});
