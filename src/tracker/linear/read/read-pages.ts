import * as z from 'zod';
import { BatonError } from '../../../core/baton-error.ts';
import type { Operation } from '../call/documents.ts';

/** A listing with more pages than this counts as endless. */
const mostPages = 500;

export const pageInfo = z.object({ hasNextPage: z.boolean(), endCursor: z.string().nullish() });

export interface Page {
  readonly pageInfo: z.infer<typeof pageInfo>;
}

export const nodes = z.array(z.unknown());

/**
 * Yields the pages of a listing, each as it arrives, to the last one; a caller that has enough stops iterating. What
 * must hold: every next page has a cursor, and one that no earlier page had; otherwise issues would be missing, or the
 * listing would not end.
 */
export async function* pagesOf<Each extends Page>(
  { name }: Operation,
  read: (after: string | null) => Promise<Each>,
): AsyncGenerator<Each> {
  const begun = new Set<string>();
  let after: string | null = null;
  for (let count = 0; count < mostPages; count += 1) {
    const page: Each = await read(after);
    yield page;
    if (!page.pageInfo.hasNextPage) return;
    after = page.pageInfo.endCursor ?? '';
    if (after === '')
      throw brokenPaging(name, 'linear_missing_end_cursor', 'a page announces a next page without a cursor');
    if (begun.has(after))
      throw brokenPaging(name, 'linear_repeated_cursor', 'a page has the cursor of an earlier page');
    begun.add(after);
  }
  throw brokenPaging(name, 'linear_endless_pages', `there are more than ${mostPages} pages`);
}

function brokenPaging(operation: string, code: string, what: string): BatonError {
  return new BatonError('tracker_pagination', `Linear sent broken pages for ${operation}: ${what}.`, {
    details: { operation, provider_code: code },
  });
}
