import { invalidArgument, NotModelled } from './failures.ts';
import type { LinearRecord, Records } from './records.ts';
import { type Shape, shapeOf, type TypeName } from './shape.ts';

/**
 * Linear's filters: the parts of one object must all hold, `and` and `or` hold lists, a collection has `some`, `every`
 * and `length`, and a plain part of a collection's filter means `some`. What is not known of Linear is an error here:
 * an unknown comparator, an explicit null, an empty `and` or `or`, a negation of something that is not set.
 */
export function matches(filter: unknown, type: TypeName, record: LinearRecord | null, world: World): boolean {
  return parts(filter).every(([key, part]) => {
    if (key === 'and') return branches(part).every((each) => matches(each, type, record, world));
    if (key === 'or') return branches(part).some((each) => matches(each, type, record, world));
    if (key === 'null') return (record === null) === part;
    return matchesField(part, shapeOf(type, key), record, world);
  });
}

export interface World {
  readonly records: Records;
  readonly now: number;
}

function matchesField(part: unknown, shape: Shape, record: LinearRecord | null, world: World): boolean {
  // `shapeOf` gives the shape that belongs to the type of the record.
  const of = record as never;
  switch (shape.kind) {
    case 'value':
      return compare(part, record === null ? null : shape.read(of, world.records));
    case 'time':
      return compare(withTimes(part, world.now), record === null ? null : shape.read(of));
    case 'one':
      return matches(part, shape.type, record === null ? null : shape.read(of, world.records), world);
    case 'list':
      throw new NotModelled(`a filter by ${shape.kind}`);
    case 'many':
      return matchesMany(part, shape.type, record === null ? [] : shape.read(of, world.records), world);
  }
}

function matchesMany(filter: unknown, type: TypeName, items: readonly LinearRecord[], world: World): boolean {
  return parts(filter).every(([key, part]) => {
    if (key === 'and') return branches(part).every((each) => matchesMany(each, type, items, world));
    if (key === 'or') return branches(part).some((each) => matchesMany(each, type, items, world));
    if (key === 'every') return items.every((item) => matches(part, type, item, world));
    if (key === 'some') return items.some((item) => matches(part, type, item, world));
    if (key === 'length') return compare(part, items.length);
    if (key === 'null') return (items.length === 0) === part;
    return items.some((item) => matches({ [key]: part }, type, item, world));
  });
}

type Plain = string | number | boolean;

function compare(comparator: unknown, value: Plain | null): boolean {
  return parts(comparator).every(([name, operand]) => {
    if (name === 'null') return (value === null) === operand;
    const positive = positives[name];
    if (positive !== undefined) return value !== null && positive(value, operand);
    const negated = positives[negatives[name] ?? ''];
    if (negated === undefined) throw new NotModelled(`the comparator ${name}`);
    if (value === null) throw new NotModelled(`${name} on something that is not set`);
    return !negated(value, operand);
  });
}

const small = (value: unknown): string => text(value).toLowerCase();
const bare = (value: unknown): string =>
  small(value)
    .normalize('NFD')
    .replaceAll(/\p{Diacritic}/gu, '');

const positives: Readonly<Record<string, (value: Plain, operand: unknown) => boolean>> = {
  eq: (value, operand) => value === operand,
  in: (value, operand) => list(operand).includes(value),
  gt: (value, operand) => number(value) > number(operand),
  gte: (value, operand) => number(value) >= number(operand),
  lt: (value, operand) => number(value) < number(operand),
  lte: (value, operand) => number(value) <= number(operand),
  eqIgnoreCase: (value, operand) => small(value) === small(operand),
  contains: (value, operand) => text(value).includes(text(operand)),
  containsIgnoreCase: (value, operand) => small(value).includes(small(operand)),
  containsIgnoreCaseAndAccent: (value, operand) => bare(value).includes(bare(operand)),
  startsWith: (value, operand) => text(value).startsWith(text(operand)),
  startsWithIgnoreCase: (value, operand) => small(value).startsWith(small(operand)),
  endsWith: (value, operand) => text(value).endsWith(text(operand)),
};

const negatives: Readonly<Record<string, string>> = {
  neq: 'eq',
  nin: 'in',
  neqIgnoreCase: 'eqIgnoreCase',
  notContains: 'contains',
  notContainsIgnoreCase: 'containsIgnoreCase',
  notStartsWith: 'startsWith',
  notEndsWith: 'endsWith',
};

/** A comparator of times with its operands as milliseconds. */
function withTimes(comparator: unknown, now: number): unknown {
  return Object.fromEntries(
    parts(comparator).map(([name, operand]) => {
      if (name === 'null') return [name, operand];
      return [name, Array.isArray(operand) ? operand.map((each) => time(each, now)) : time(operand, now)];
    }),
  );
}

const isoTime = /^\d{4}(-\d\d(-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?)?)?$/;
const duration = /^([+-])?P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?$/;
const unitsMs = [7 * 86_400_000, 86_400_000, 3_600_000, 60_000, 1000];

/** `2026`, `2026-01-31T10:00:00.000Z`, or from now on: `-P2W1D`. */
function time(operand: unknown, now: number): number {
  const written = text(operand);
  if (isoTime.test(written) && !Number.isNaN(Date.parse(written))) return Date.parse(written);
  const [, sign, ...amounts] = duration.exec(written) ?? [];
  if (amounts.some((amount) => amount !== undefined)) {
    const length = unitsMs.reduce((sum, unit, at) => sum + unit * Number(amounts[at] ?? 0), 0);
    return now + (sign === '-' ? -length : length);
  }
  if (/^[+-]?P/.test(written)) throw new NotModelled(`the duration ${written}`);
  throw invalidArgument('filter', { isDate: `${written} is not a date` });
}

function parts(filter: unknown): readonly [string, unknown][] {
  if (filter === null || typeof filter !== 'object') throw new NotModelled(`the filter ${JSON.stringify(filter)}`);
  return Object.entries(filter).map(([key, part]) => {
    if (part === null) throw new NotModelled(`null as ${key} in a filter`);
    return [key, part];
  });
}

function branches(value: unknown): readonly unknown[] {
  const all = list(value);
  if (all.length === 0) throw new NotModelled('an empty and or or');
  return all;
}

function list(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new NotModelled(`${JSON.stringify(value)} as a list in a filter`);
  return value;
}

function text(value: unknown): string {
  if (typeof value !== 'string') throw new NotModelled(`${JSON.stringify(value)} as text in a filter`);
  return value;
}

function number(value: unknown): number {
  if (typeof value !== 'number') throw new NotModelled(`${JSON.stringify(value)} as a number in a filter`);
  return value;
}
