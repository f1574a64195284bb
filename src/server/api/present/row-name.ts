import type { Issue } from '../../../core/issue/issue.ts';

/** What every row contains about its issue. */
export interface RowName {
  issue_id: string;
  issue_identifier: string;
  title: string | null;
  issue_url: string | null;
}

/** As the tracker last returned the issue; otherwise what Baton remembers. */
export function rowName(
  issue: { readonly id: string; readonly identifier: string; readonly title?: string; readonly url?: string | null },
  known: ReadonlyMap<string, Issue>,
): RowName {
  const seen = known.get(issue.id);
  return {
    issue_id: issue.id,
    issue_identifier: issue.identifier,
    title: seen?.title ?? issue.title ?? null,
    issue_url: issue.url ?? seen?.url ?? null,
  };
}
