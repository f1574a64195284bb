import { type Alias, type Document, isAlias, isMap, isScalar, isSeq, type Node, type Pair, type Scalar } from 'yaml';

/** Limits far above any settings, so that anchors and aliases cannot blow a small file up (a "YAML bomb"). */
const mostAliases = 100;
const mostValues = 20_000;
const deepestNesting = 50;

type Refuse = (offset: number, problem: string, message: string) => Error;

/**
 * A YAML document as plain data. Keys become text, aliases are followed, and map entries that are null are left out, as
 * null means absent everywhere in a workflow file. Objects are made so that a key `__proto__` is an ordinary key.
 * `refuse` makes the error that is thrown for repeated keys, keys that are no text, cycles, and too much of anything.
 */
export function toPlainData(document: Document, refuse: Refuse): unknown {
  let aliases = 0;
  let values = 0;

  const convert = (node: unknown, above: readonly unknown[]): unknown => {
    values += 1;
    if (values > mostValues) throw refuse(offsetOf(node), 'too_many_values', `more than ${mostValues} values`);
    if (above.length > deepestNesting) {
      throw refuse(offsetOf(node), 'nested_too_deep', `nested deeper than ${deepestNesting} levels`);
    }
    if (above.includes(node)) throw refuse(offsetOf(node), 'endless_alias', 'an alias that contains itself');
    const inside = [...above, node];
    if (isAlias(node)) return convert(follow(node), inside);
    if (isSeq(node)) return node.items.map((item) => convert(item, inside));
    if (isMap(node)) return convertMap(node.items, (value) => convert(value, inside), refuse);
    return isScalar(node) ? node.value : null;
  };

  const follow = (alias: Alias): unknown => {
    aliases += 1;
    if (aliases > mostAliases) throw refuse(offsetOf(alias), 'too_many_aliases', `more than ${mostAliases} aliases`);
    const target = alias.resolve(document);
    if (target === undefined) {
      throw refuse(offsetOf(alias), 'unknown_alias', `the alias *${alias.source} has no anchor before it`);
    }
    return target;
  };

  return convert(document.contents, []);
}

function convertMap(pairs: readonly Pair[], convert: (value: unknown) => unknown, refuse: Refuse): unknown {
  const entries = new Map<string, unknown>();
  for (const { key, value } of pairs) {
    if (!isScalar(key) || key.value === null) throw refuse(offsetOf(key), 'key_not_text', 'a key has to be text');
    const name = keyText(key);
    if (entries.has(name)) {
      throw refuse(offsetOf(key), 'repeated_key', `the key ${JSON.stringify(name)} is there twice`);
    }
    entries.set(name, convert(value));
  }
  return Object.fromEntries([...entries].filter(([, value]) => value !== null));
}

/** A number as a key is meant as it is written: `0x10` is not `16`. */
function keyText(key: Scalar): string {
  return typeof key.value === 'string' ? key.value : (key.source ?? String(key.value));
}

/** Where a node of a parsed document stands in its text. Absent values are nodes too, or null. */
function offsetOf(node: unknown): number {
  return (node as Node | null | undefined)?.range?.[0] ?? 0;
}
