import { BatonError } from '../core/baton-error.ts';
import type { Author } from '../core/issue/author.ts';
import type { Verdict } from '../core/pull/judge.ts';
import type { Merged, PullRequest } from '../core/pull/pull-request.ts';
import { verdictText } from '../core/pull/verdict-text.ts';
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
export type ChangeDraft = Omit<PullDraft, 'host' | 'hostNumber' | 'url' | 'headCommit' | 'baseCommit' | 'runId'> &
  Pick<ProposedChange, 'receipt' | 'earlierHeads'> & {
    /** The commit that the run published. Another head on its branch is somebody else's. */
    readonly commit: string | null;
  };

/** Opens the pull request of a change, or lets its new head stand in review. Returns the record. */
export async function proposeChange({ store, pulls }: ChangeParts, draft: ChangeDraft): Promise<PullRequest> {
  const known = await store.pullRequests.openOfIssue(draft);
  const rounds = known === null ? [] : await store.pullRequests.rounds(known);
  const proposed = rounds.filter((round) => round.runId !== null).map((round) => round.headCommit);
  const earlierHeads = [...proposed, ...(draft.earlierHeads ?? [])];
  // A person may have given it another base at its host.
  const base = known?.base ?? draft.base;
  const { isOpen, ...change } = await pulls.open({
    ...draft,
    base,
    earlierHeads,
    hostNumber: known?.hostNumber ?? null,
  });
  if (known !== null && isOpen === false)
    throw new BatonError('change_ended', `Pull request ${known.number} has ended at its host.`, {
      details: { pull_request: known.number, url: known.url },
    });
  const { hostNumber, url, headCommit, baseCommit } = change;
  const runId = draft.by.kind === 'run' && headCommit === draft.commit ? draft.by.runId : null;
  const pull = await store.pullRequests.open({ ...draft, base, runId, host: pulls.host, ...change });
  if (pull.closed !== null && pull.hostNumber === hostNumber && isOpen === true) await store.pullRequests.reopen(pull);
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

/** A daemon that tried for longer than this to bring a verdict to its host is gone. */
const sayingMs = 120_000;

/** Brings the verdict of a judge to people at its host, once, whichever daemon does it. */
export async function sayVerdict(
  { store, pulls }: { readonly store: Pick<Store, 'verdicts'>; readonly pulls: PullRequests },
  pull: PullRequest,
  verdict: Verdict,
  { at, counts }: { readonly at: number; readonly counts: boolean },
): Promise<void> {
  if (pulls.remote === undefined || verdict.hostId !== null || pull.hostNumber === null) return;
  if (!(await store.verdicts.beginToSay(pull, verdict, { at, leaseMs: sayingMs }))) return;
  const said = { commit: verdict.commit, verdict: verdict.verdict, key: verdict.runId, counts };
  const id = await pulls.remote.sayVerdict(pull, { ...said, text: verdictText(verdict) });
  await store.verdicts.said(pull, verdict, id);
}

/** What `followChanges` found. */
export interface FollowedChange {
  /** As it is recorded now. */
  readonly pull: PullRequest;
  readonly facts: PullFacts;
  /** By others. `moved`: a person moved the branch, and a new round began. Null: none of them. */
  readonly effect: 'merged' | 'closed' | 'reopened' | 'moved' | null;
}

interface FollowRequest {
  readonly at: number;
  readonly someone: Author;
  readonly signal?: AbortSignal;
  readonly closed?: readonly PullRequest[];
}

/**
 * Reads the open pull requests of a project at their host and records what others did: they merged, closed, pushed, or
 * chose another base. The `closed` ones are read with them: a person may have opened them again. `someone` is the author
 * where no one says who it was. The caller moves the issues.
 */
export async function followChanges(
  { store, pulls, onMerged, onClosed }: ChangeParts,
  project: string,
  { at, someone, signal, closed = [] }: FollowRequest,
): Promise<readonly FollowedChange[]> {
  const open = [...(await store.pullRequests.allOpen(project)), ...closed].filter(({ host }) => host === pulls.host);
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

type RecordParts = Pick<ChangeParts, 'store'> & {
  readonly onMerged: ChangeParts['onMerged'] | undefined;
  readonly onClosed: ChangeParts['onClosed'] | undefined;
};

async function record(
  parts: RecordParts,
  pull: PullRequest,
  facts: PullFacts,
  at: number,
  someone: Author,
): Promise<FollowedChange['effect']> {
  const { pullRequests } = parts.store;
  const isOpen = facts.merged !== null || (!facts.isClosed && facts.headCommit !== null);
  if (pull.closed !== null && !(isOpen && (await pullRequests.reopen(pull)))) return null;
  if (facts.base !== undefined && facts.base !== pull.base) await pullRequests.describe(pull, { base: facts.base });
  const effect =
    facts.merged !== null || facts.isClosed
      ? await recordEnd(parts, pull, facts, at, someone)
      : await recordHead(parts, pull, facts, at);
  return effect ?? (pull.closed === null ? null : 'reopened');
}

async function recordEnd(
  { store: { pullRequests }, onMerged, onClosed }: RecordParts,
  pull: PullRequest,
  { merged, closedBy }: PullFacts,
  at: number,
  someone: Author,
): Promise<FollowedChange['effect']> {
  const named = (name: string | null | undefined): Author => (name == null ? someone : { kind: 'person', name });
  if (merged === null) {
    const by = named(closedBy);
    await onClosed?.(pull, by);
    return (await pullRequests.close(pull, { at, by })) ? 'closed' : null;
  }
  const { commit, method } = merged;
  const found = { at, by: named(merged.by), commit, method };
  await onMerged?.(pull, found);
  return (await pullRequests.merged(pull, found)) ? 'merged' : null;
}

async function recordHead(
  { store: { pullRequests } }: RecordParts,
  pull: PullRequest,
  { headCommit, baseCommit, mergeability, isEmpty }: PullFacts,
  at: number,
): Promise<FollowedChange['effect']> {
  if (headCommit === null || baseCommit === null) return null;
  // A branch that was reset to its base proposes nothing; the head that stood in review still does.
  if (headCommit !== pull.headCommit && !isEmpty)
    return (await pullRequests.stand(pull, { headCommit, baseCommit, at, runId: null })) ? 'moved' : null;
  // Only where it is certain that this base does not have the change.
  if (baseCommit !== pull.baseCommit && mergeability !== 'unknown')
    await pullRequests.setBase(pull, pull.headCommit, baseCommit);
  return null;
}
