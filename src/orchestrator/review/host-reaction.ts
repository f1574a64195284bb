import type { PullRequest } from '../../core/pull/pull-request.ts';
import { rebaseNote } from '../../core/pull/rebase-note.ts';
import type { HostCheck, HostReview, PullFacts, RemoteHost } from '../../pulls/pull-requests.ts';
import type { MessageDraft } from '../../store/tables/words/messages.ts';

/** Why a change goes back to its agent by itself. */
export type HostReaction =
  /** The reviews of one person that ask for changes, with their comments on lines. */
  | { readonly kind: 'review'; readonly author: string; readonly words: readonly HostReview[] }
  | { readonly kind: 'check'; readonly red: readonly HostCheck[] }
  | { readonly kind: 'conflict'; readonly files: readonly string[] };

/**
 * What the host of a change says about the head that stands in review, and what follows. What must hold:
 *
 * - Only a person who may write to the repository sends a change back; the words of others are shown and steer no agent.
 * - Each review counts once: it is about this head, or came while it stands. A later approval of the same person ends it.
 * - Checks count when all of them have finished; a conflict when the host or the commits prove it.
 */
export function hostReaction(pull: PullRequest, facts: PullFacts): HostReaction | null {
  if (pull.sentBack !== null || facts.headCommit !== pull.headCommit || facts.merged !== null) return null;
  const isNow = ({ commit, at }: HostReview): boolean => commit === pull.headCommit || at >= pull.standingSince;
  const counted = facts.reviews.filter((each) => each.isTrusted && isNow(each));
  for (const author of new Set(counted.map((each) => each.author))) {
    const own = counted.filter((each) => each.author === author);
    const verdict = own.findLast((each) => each.id === each.reviewId && each.verdict !== 'comment')?.verdict;
    const words = own.filter((each) => each.verdict === 'changes_requested');
    if (verdict === 'changes_requested') return { kind: 'review', author, words };
  }
  const checks = facts.checks ?? [];
  const red = checks.filter(({ result }) => result === 'failed' || result === 'timed_out');
  if (red.length > 0 && checks.every(({ result }) => result !== null)) return { kind: 'check', red };
  if (facts.mergeability === 'conflict') return { kind: 'conflict', files: facts.conflicts };
  return null;
}

type Words = Omit<MessageDraft, 'at' | 'commit'>;

/** The words for the agent; the same reaction has the same ids. */
export async function reactionWords(
  reaction: HostReaction,
  { headCommit, baseCommit, baseReference }: PullFacts,
  { explainCheck }: RemoteHost,
): Promise<readonly Words[]> {
  const author = { kind: 'orchestrator' } as const;
  if (reaction.kind === 'review') {
    const said = reaction.words.filter(({ body }) => body !== '');
    return (said.length === 0 ? reaction.words.slice(0, 1) : said).map(({ id, body, path, line }) => ({
      id,
      path,
      line,
      body: body === '' ? 'The reviewer asks for changes, but gives no reason.' : body,
      kind: path === null ? 'note' : 'review_comment',
      author: { kind: 'person', name: reaction.author },
    }));
  }
  if (reaction.kind === 'conflict') {
    const files = reaction.files.length === 0 ? '' : ` Files in conflict: ${reaction.files.join(', ')}.`;
    const fetch = `git fetch origin ${baseReference}`;
    const where = ` The base is at ${baseCommit}; get it with \`${fetch}\` and rebase onto FETCH_HEAD.`;
    const body = `${rebaseNote}${baseReference === undefined ? '' : where}${files}`;
    return [{ id: `conflict:${headCommit}:${baseCommit}`, kind: 'conflict', author, body }];
  }
  const words: Words[] = [];
  for (const check of reaction.red) {
    const { step = null, output = '' } = (await explainCheck(check)) ?? {};
    const how = check.result === 'timed_out' ? 'took too long' : 'failed';
    const at = step === null ? '' : ` in the step "${step}"`;
    const tail = output === '' ? '' : ` The end of its log:\n\n${output}`;
    const body = `The check "${check.name}" ${how}${at}.${tail}`;
    words.push({ id: `check:${headCommit}:${check.name}`, kind: 'check', author, body });
  }
  return words;
}
