import * as z from 'zod';
import { pageQuery } from '../../../client/schema/common.ts';
import { parseJson } from '../../../core/text/parse-json.ts';

/**
 * The cursor between two pages. It stores the position in the order where the next page begins, not a count, so that
 * new rows neither remove rows from later pages nor repeat them. Its content is private to this module.
 */
export interface PageCursor<T> {
  write(place: T): string;
  /** Null on the first page. */
  read(cursor: string | undefined): T | null;
  /** The query of a list; it rejects a cursor that no page returned. */
  readonly query: typeof pageQuery;
}

export function pageCursor<T>(shape: z.ZodType<T>): PageCursor<T> {
  const read = (cursor: string): T | null => {
    try {
      const found = shape.safeParse(parseJson(Buffer.from(cursor, 'base64url').toString('utf8')));
      return found.success ? found.data : null;
    } catch {
      return null;
    }
  };
  return {
    write: (place) => Buffer.from(JSON.stringify(place)).toString('base64url'),
    read: (cursor) => (cursor === undefined ? null : read(cursor)),
    query: pageQuery.extend({
      cursor: z
        .string()
        .max(500)
        .refine((cursor) => read(cursor) !== null, 'It must be the cursor of an earlier page.')
        .optional(),
    }),
  };
}
