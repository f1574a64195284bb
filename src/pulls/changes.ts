import type { Author } from '../core/issue/author.ts';
import type { Merged, PullRequest } from '../core/pull/pull-request.ts';
import type { Store } from '../store/store.ts';
import type { PullDraft } from '../store/tables/pulls/pull-requests.ts';
import type { MergeRequest, MergeResult, ProposedChange, PullFacts, PullRequests } from './pull-requests.ts';

/**
 * The steps of a change between its host and the store. Each acts at the host first and writes second, and each finds
 * what it did before: after a crash at any point the same step, called again, ends the same. So there are never two pull
 * requests of a change, and never a lost or a second merge.
 */
export interface ChangeParts {
  readonly store: Pick<Store, 'pullRequests'>;
  readonly pulls: PullRequests;
  /** Called with a merged change before it is recorded as merged. Rejecting leaves it open, to be found again. */
  readonly onMerged?: (pull: PullRequest, merged: Merged) => Promise<void>;
  /** The same for a change that was closed at its host without a merge. */
  readonly onClosed?: (pull: PullRequest, by: Author) => Promise<void>;
}

/** The author where no one says who it was. */
export const someone: Author = { kind: 'person', name: 'unknown' };

/** A change to propose: the host and the store give the rest. */
export type ChangeDraft = Omit<PullDraft, 'host' | 'hostNumber' | 'url' | 'headCommit' | 'baseCommit'> &
  Pick<ProposedChange, 'receipt'>;

/** Opens the pull request of a change, or lets its new head stand in review. Returns the record. */
export async function proposeChange({ store, pulls }: ChangeParts, draft: ChangeDraft): Promise<PullRequest> {
  const known = await store.pullRequests.openOfIssue(draft);
  const rounds = known === null ? [] : await store.pullRequests.rounds(known);
  const earlierHeads = rounds.filter((round) => round.runId !== null).map((round) => round.headCommit);
  const change = await pulls.open({ ...draft, earlierHeads });
  const { hostNumber, url, headCommit, baseCommit } = change;
  const pull = await store.pullRequests.open({ ...draft, host: pulls.host, ...change });
  const runId = draft.by.kind === 'run' ? draft.by.runId : null;
  if (pull.hostNumber !== hostNumber || pull.url !== url) await store.pullRequests.describe(pull, { hostNumber, url });
  await store.pullRequests.stand(pull, { headCommit, baseCommit, at: draft.at, runId });
  return (await store.pullRequests.read(pull)) ?? pull;
}

/** Merges a change and records it. */
export async function mergeChange(
  { store, pulls, onMerged }: ChangeParts,
  pull: PullRequest,
  request: MergeRequest,
): Promise<MergeResult> {
  const result = await pulls.merge(pull, request);
  if (result.outcome === 'merged') {
    const { commit, method } = result;
    const merged = { at: request.at, by: request.by, commit, method };
    await onMerged?.(pull, merged);
    await store.pullRequests.merged(pull, merged);
  }
  return result;
}

/** What `followChanges` found. */
export interface FollowedChange {
  /** As it is recorded now. */
  readonly pull: PullRequest;
  readonly facts: PullFacts;
  /** `merged` and `closed`: by others. `moved`: a person moved the branch, and a new round began. Null: neither. */
  readonly effect: 'merged' | 'closed' | 'moved' | null;
}

/**
 * Reads the open pull requests of a project at their host and records what others did: they merged, closed or pushed.
 * `someone` is the author where no one says who it was. The caller moves the issues.
 */
export async function followChanges(
  { store, pulls, onMerged, onClosed }: ChangeParts,
  project: string,
  { at, someone, signal }: { readonly at: number; readonly someone: Author; readonly signal?: AbortSignal },
): Promise<readonly FollowedChange[]> {
  const open = (await store.pullRequests.allOpen(project)).filter(({ host }) => host === pulls.host);
  const facts = await pulls.read(open, signal);
  const followed: FollowedChange[] = [];
  for (const [nth, pull] of open.entries()) {
    const found = facts[nth];
    if (found === undefined) continue;
    const effect = await record({ store, onMerged, onClosed }, pull, found, at, someone);
    followed.push({ pull: (await store.pullRequests.read(pull)) ?? pull, facts: found, effect });
  }
  return followed;
}

async function record(
  {
    store: { pullRequests },
    onMerged,
    onClosed,
  }: Pick<ChangeParts, 'store'> & {
    readonly onMerged: ChangeParts['onMerged'] | undefined;
    readonly onClosed: ChangeParts['onClosed'] | undefined;
  },
  pull: PullRequest,
  facts: PullFacts,
  at: number,
  someone: Author,
): Promise<FollowedChange['effect']> {
  const { merged, headCommit, baseCommit, mergeability, isEmpty } = facts;
  if (merged !== null) {
    const by: Author = merged.by === null ? someone : { kind: 'person', name: merged.by };
    const { commit, method } = merged;
    const found = { at, by, commit, method };
    await onMerged?.(pull, found);
    return (await pullRequests.merged(pull, found)) ? 'merged' : null;
  }
  if (facts.isClosed) {
    const by: Author = facts.closedBy == null ? someone : { kind: 'person', name: facts.closedBy };
    await onClosed?.(pull, by);
    return (await pullRequests.close(pull, { at, by })) ? 'closed' : null;
  }
  if (headCommit === null || baseCommit === null) return null;
  // A branch that was reset to its base proposes nothing; the head that stood in review still does.
  if (headCommit !== pull.headCommit && !isEmpty)
    return (await pullRequests.stand(pull, { headCommit, baseCommit, at, runId: null })) ? 'moved' : null;
  // Only where it is certain that this base does not have the change.
  if (baseCommit !== pull.baseCommit && mergeability !== 'unknown')
    await pullRequests.setBase(pull, pull.headCommit, baseCommit);
  return null;
}
