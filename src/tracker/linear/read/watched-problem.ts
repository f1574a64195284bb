import { BatonError } from '../../../core/baton-error.ts';
import type { Issue } from '../../../core/issue/issue.ts';
import { harmlessLine } from '../../../core/text/harmless-line.ts';
import type { Kept } from '../snapshot/kept-snapshot.ts';
import type { Sighted } from '../snapshot/sighted.ts';

/** Why some watched issues are not answered for: Linear sent their records malformed. Null: all could be read. */
export function watchedProblem(
  watched: readonly string[],
  { unreadable }: Sighted,
  kept: Pick<Kept, 'issues' | 'watched'> | null,
): BatonError | null {
  const ids = watched.filter((id) => unreadable.has(id));
  if (ids.length === 0) return null;
  const knownAs = (id: string): Issue | undefined =>
    kept?.watched.get(id) ?? kept?.issues.find((issue) => issue.id === id);
  const names = ids.map((id) => harmlessLine(unreadable.get(id) ?? knownAs(id)?.identifier ?? id));
  const message = `Linear's answer cannot be used for ${names.join(', ')}: the record is malformed.`;
  return new BatonError('tracker_response', message, {
    details: { issues: names, ids, provider_code: 'linear_unknown_payload' },
  });
}
