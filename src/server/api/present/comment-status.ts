import type { Author } from '../../../core/issue/author.ts';
import type { IssueKey } from '../../../store/issue-key.ts';
import type { StoreTables } from '../../../store/store.ts';
import { commentsUntil } from '../../../store/tables/counters.ts';

/** More runs than an issue has, as a rule; what is older counts as known. */
const runsRead = 50;

/**
 * Whether agents have received a comment on the board. It is `waiting` until a run whose agent received it ended well.
 * Null for one that is not sent to agents: of an agent or of Baton, or before the first run.
 */
export async function commentStatuses(
  { counters, runs: table }: Pick<StoreTables, 'counters' | 'runs'>,
  { project, issueId }: IssueKey,
): Promise<(comment: { readonly at: number; readonly author: Author }) => 'waiting' | 'delivered' | null> {
  const [counts, runs] = await Promise.all([
    counters.read({ project, issueId }),
    table.list(project, { issueId, limit: runsRead }),
  ]);
  const [last] = runs;
  const first = runs.length < runsRead ? (runs.at(-1)?.startedAt ?? Number.POSITIVE_INFINITY) : 0;
  const inProgress = last?.finish === null && last.turns > 0 ? last.startedAt : Number.NEGATIVE_INFINITY;
  const until = Math.max(counts[commentsUntil] ?? Number.NEGATIVE_INFINITY, inProgress);
  return ({ at, author }) => {
    if (author.kind !== 'person' || at < first) return null;
    return at <= until ? 'delivered' : 'waiting';
  };
}
