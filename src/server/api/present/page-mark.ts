import { z } from 'zod';
import { pageQuery } from '../../../client/schema/common.ts';

/**
 * The mark between two pages: where in an order the next one begins, and not how many came before, so that what is new
 * meanwhile pushes nothing out of, or twice into, the pages that follow. What is in it is nobody else's business.
 */
export interface PageMark<T> {
  write(place: T): string;
  /** Null on the first page. */
  read(cursor: string | undefined): T | null;
  /** What a list may be asked with; a cursor that no page gave does not fit. */
  readonly query: typeof pageQuery;
}

export function pageMark<T>(shape: z.ZodType<T>): PageMark<T> {
  const read = (cursor: string): T | null => {
    try {
      const found = shape.safeParse(JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')));
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
        .refine((cursor) => read(cursor) !== null, 'It has to be one that a page before gave.')
        .optional(),
    }),
  };
}
