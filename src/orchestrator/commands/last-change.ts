import type { CommandKind } from '../../core/command/command.ts';
import type { Author } from '../../core/issue/author.ts';
import { isMeantBy } from '../../core/issue/issue.ts';
import { harmlessLine } from '../../core/text/harmless-line.ts';
import type { Store } from '../../store/store.ts';
import type { IssueName } from '../claims/claim.ts';
import type { Claims } from '../claims/claims.ts';

/** How many of the latest commands are searched: a repeated request usually comes soon. */
const searched = 200;

/** Commands that change the state of an issue; a message to its agent does not. */
const changing: ReadonlySet<string> = new Set<CommandKind>([
  'issue_retry',
  'issue_hold',
  'issue_release',
  'issue_stop',
  'issue_takeover',
  'issue_handback',
]);

/** Who last changed the state of an issue by a command, and by which one; null when unknown. */
export async function lastChange(
  { store, project }: { readonly store: Store; readonly project: string },
  issue: IssueName,
): Promise<{ readonly kind: string; readonly by: string } | null> {
  const found = (await store.commands.list(project, searched)).find(
    ({ kind, payload, result }) =>
      changing.has(kind) &&
      result?.status === 'done' &&
      typeof payload.issue === 'string' &&
      isMeantBy(issue, payload.issue),
  );
  return found === undefined ? null : { kind: found.kind, by: nameOf(found.author) };
}

/** The state of an issue, as the end of a sentence. */
export function claimText({ claims }: { readonly claims: Claims }, issue: IssueName): string {
  return claims.whyClaimed(issue.id)?.text ?? 'no agent works on it';
}

function nameOf(author: Author): string {
  return author.kind === 'person' ? harmlessLine(author.name) : author.kind;
}
