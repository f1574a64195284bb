import { expect } from 'vitest';

/**
 * Matches a sentence for people that carries each of these: a name, a setting, a command, a number that stands alone. The
 * words around them are free, so that a sentence can be reworded without a change of its test.
 */
export function telling(...data: readonly (string | number)[]): string {
  const each = data.map((datum) =>
    typeof datum === 'number' ? `(?<![\\d.,])${datum}(?!\\d|[.,]\\d)` : literal(datum),
  );
  return expect.stringMatching(new RegExp(each.map((pattern) => `(?=[^]*${pattern})`).join('')));
}

function literal(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
