import type { Chance } from '../../src/clock/chance.ts';

/** Inputs stay below this: longer ones are the subject of tests of single bounds. */
const mostBytes = 64 * 1_024;
const mostChanges = 6;
const deepest = 20_000;

/** Pieces that parsers stumble over. */
const pieces = [
  ...['null', 'true', '0', '-0', '-1', '1e999', '9007199254740993', '0.1', '""', '[]', '{}', 'NaN', '-', '.'],
  ...['"', "'", '\\', '\\u0000', '\\ud800', '{', '}', '[', ']', ',', ':', '\n', '\r\n', '\t', ' ', '---\n', '\0'],
  ...['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'length', '../', '..', '/', '%00', '%2e%2e%2f', '%'],
  ...['{{', '}}', '{%', '%}', '{% for i in (1..9999999) %}', '&a', '*a', '!!js', '|', '>', '- ', '# ', '<<: *a'],
  ...['\u001b]0;x\u0007', '\u202e', '\ufeff', '\ud800', '\u{1f600}', '\u2028', 'ref: ', 'refs/heads/', 'DIRC'],
  ...['query {', 'mutation {', '... on Issue {', '$x', '@include(if: true)', '"""', 'Bearer ', 'HTTP/1.1\r\n'],
];

/** A changed copy of `seed`, drawn from `chance` alone. Another input of the corpus is spliced in now and then. */
export function mutate(seed: Buffer, other: Buffer, chance: Chance): Buffer {
  const below = (limit: number): number => Math.floor(chance.next() * limit);
  let bytes = seed;
  for (let left = below(mostChanges + 1); left > 0; left -= 1) {
    const from = below(bytes.length + 1);
    const to = Math.min(bytes.length, from + below(1 + below(64)));
    const replaced = (by: Buffer | string): Buffer =>
      Buffer.concat([bytes.subarray(0, from), Buffer.from(by), bytes.subarray(to)]).subarray(0, mostBytes);
    const changes: readonly (() => Buffer)[] = [
      () => replaced(''),
      () => replaced(Buffer.from([below(256)])),
      () => replaced(pieces[below(pieces.length)] ?? ''),
      () => replaced(pieces[below(pieces.length)] ?? ''),
      () => replaced(bytes.subarray(from, to).toString('latin1').repeat(below(64))),
      () => replaced(other.subarray(below(other.length + 1))),
      () => replaced(Buffer.from(Array.from({ length: below(32) }, () => below(256)))),
      () =>
        replaced(
          (['[', '{"a":', '(', '- ', '{{', '{ a '][below(6)] ?? '').repeat(below(8) === 0 ? below(deepest) : below(20)),
        ),
      () => bytes.subarray(0, from),
      () => withOtherNumber(bytes, chance),
    ];
    bytes = changes[below(changes.length)]?.() ?? bytes;
  }
  return bytes;
}

/** One number of the text becomes another one. */
function withOtherNumber(bytes: Buffer, chance: Chance): Buffer {
  const text = bytes.toString('latin1');
  const numbers = [...text.matchAll(/\d+/g)];
  const chosen = numbers[Math.floor(chance.next() * numbers.length)];
  if (chosen === undefined) return bytes;
  const values = ['0', '-1', '4294967295', '9007199254740992', '1e308', '1e-320', '00', '0x10', '1'.repeat(400)];
  const by = values[Math.floor(chance.next() * values.length)] ?? '0';
  return Buffer.from(text.slice(0, chosen.index) + by + text.slice(chosen.index + chosen[0].length), 'latin1');
}
