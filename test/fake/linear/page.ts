import { invalidArgument, NotModelled } from './failures.ts';
import type { LinearRecord } from './records.ts';

export interface PageArguments {
  readonly first?: number | null;
  readonly after?: string | null;
  readonly last?: number | null;
  readonly before?: string | null;
  readonly orderBy?: 'createdAt' | 'updatedAt' | null;
  readonly includeArchived?: boolean | null;
  readonly sort?: unknown;
}

export interface Page {
  readonly nodes: readonly LinearRecord[];
  readonly edges: readonly { readonly node: LinearRecord; readonly cursor: string }[];
  readonly pageInfo: {
    readonly hasNextPage: boolean;
    readonly hasPreviousPage: boolean;
    readonly startCursor: string | null;
    readonly endCursor: string | null;
  };
}

/**
 * The meaning of a cursor while records change, which Linear does not document:
 *
 * - `place`: a position in the order. Only records that move past it are missed or seen twice.
 * - `record`: a record, at its current position. When that record moves to the front, everything comes again.
 */
export type CursorKind = 'place' | 'record';

interface Cursor {
  readonly time: number;
  readonly order: number;
  /** How many pages there are before the one that it asks for. */
  readonly pages: number;
}

export const defaultPageSize = 50;
const largestPageSize = 250;

/** Which page of a listing is asked for, from 1. */
export function pageNumber({ after }: PageArguments): number {
  return after === undefined || after === null ? 1 : readCursor(after).pages + 1;
}

/** A page of records, newest first as at Linear. */
export function pageOf(records: Iterable<LinearRecord>, page: PageArguments, cursors: CursorKind): Page {
  if (page.last !== undefined || page.before !== undefined) throw new NotModelled('paging backwards');
  if (page.sort !== undefined) throw new NotModelled('the argument sort, which is internal to Linear');
  const size = page.first ?? defaultPageSize;
  if (size > largestPageSize) {
    throw invalidArgument('first', { max: `first must not be greater than ${largestPageSize}` });
  }
  if (size < 1) throw invalidArgument('first', { min: 'first must not be less than 1' });
  const by = page.orderBy ?? 'createdAt';
  const all = [...records].filter(({ archivedAt }) => page.includeArchived === true || archivedAt === null);
  all.sort((one, other) => other[by] - one[by] || other.order - one.order);

  const number = pageNumber(page);
  const written = (record: LinearRecord): string =>
    writeCursor({ time: record[by], order: record.order, pages: number });
  const start =
    page.after === undefined || page.after === null ? 0 : indexAfter(all, by, readCursor(page.after), cursors);
  const nodes = all.slice(start, start + size);
  const [front, end] = [nodes[0], nodes.at(-1)];
  return {
    nodes,
    edges: nodes.map((node) => ({ node, cursor: written(node) })),
    pageInfo: {
      hasNextPage: start + size < all.length,
      hasPreviousPage: start > 0,
      startCursor: front === undefined ? null : written(front),
      endCursor: end === undefined ? null : written(end),
    },
  };
}

function indexAfter(
  all: readonly LinearRecord[],
  by: 'createdAt' | 'updatedAt',
  cursor: Cursor,
  kind: CursorKind,
): number {
  if (kind === 'record') {
    const at = all.findIndex(({ order }) => order === cursor.order);
    if (at >= 0) return at + 1;
  }
  const at = all.findIndex((each) => each[by] < cursor.time || (each[by] === cursor.time && each.order < cursor.order));
  return at < 0 ? all.length : at;
}

function writeCursor({ time, order, pages }: Cursor): string {
  return Buffer.from(JSON.stringify([time, order, pages])).toString('base64url');
}

function readCursor(text: string): Cursor {
  try {
    const [time, order, pages] = JSON.parse(Buffer.from(text, 'base64url').toString());
    if ([time, order, pages].every(Number.isSafeInteger)) return { time, order, pages };
  } catch {
    // It is told below.
  }
  throw invalidArgument('after', { isCursor: 'after is not a valid cursor' });
}
