import type { Author } from '../core/issue/author.ts';
import type { AutoMergeObjection } from '../core/pull/auto-merge.ts';
import type { Verdict } from '../core/pull/judge.ts';
import type { CheckResult, MergeMethod, PullRequest } from '../core/pull/pull-request.ts';
import type { RequestPressure } from '../core/requests/request-pressure.ts';

/**
 * The seam to the host of pull requests: where a change is proposed, reviewed and merged. Baton's own record of each is a
 * row in the store (`PullRequest`), the same for every host; a host has at most a number and an address of its own, and
 * never writes the store. What must hold:
 *
 * - `open` is idempotent by branch: called again after a crash, it finds what it made.
 * - A merge happens once. It names the head and the base that it was decided for; where either is another by now, it
 *   refuses and changes nothing. Called again after a crash, it finds the change merged.
 * - Never forced, never over somebody's commits. A host that cannot do it says why, in a code.
 * - Others merge, close, push and check too, at any time and late. `read` reports it; no method assumes it did not happen.
 * - Nothing of the change is run or trusted: its commits, names and texts are an agent's.
 *
 * A method rejects with a BatonError when the host cannot be reached or read; nothing is known then.
 */
export interface PullRequests {
  /** The name in `review.host` and in the record. */
  readonly host: string;
  /**
   * Only where people review at the host and not in Baton: what they, its checks and its base say there sends a change
   * back by itself; and reading costs requests, so it happens at the pace of polls.
   */
  readonly remote?: RemoteHost;
  /** Proposes a branch, or finds the open proposal of it. Rejects with `change_missing` where branch or base is gone. */
  open(change: ProposedChange): Promise<OpenedChange>;
  /** Its title and text. For a host that has neither it does nothing. */
  update(
    pull: PullRequest,
    texts: Pick<PullRequest, 'title' | 'body'> & Pick<ProposedChange, 'receipt'>,
  ): Promise<void>;
  /** What the host has for a branch: null when there is no such branch, or no open proposal of it. */
  findByBranch(branch: string, base: string): Promise<OpenedChange | null>;
  /** The facts of many, in the same order; a host asks as few questions as it can. */
  read(pulls: readonly PullRequest[], signal?: AbortSignal): Promise<readonly PullFacts[]>;
  merge(pull: PullRequest, request: MergeRequest): Promise<MergeResult>;
  /** Withdraws the proposal. The branch stays. */
  close(pull: PullRequest): Promise<void>;
}

export interface RemoteHost {
  /** How short requests are. */
  pressure(): RequestPressure;
  /** What the last read found; for screens. */
  lastRead(pull: PullRequest): PullFacts | null;
  /**
   * Brings the current base into the repository on this machine, where `keptBaseOf` names it; returns the name of the
   * base. Null: the branch that the repository on this machine has as its own, or else the host.
   */
  fetchBase(base: string | null, signal?: AbortSignal): Promise<string>;
  /**
   * Shows the verdict of a judge to people there, once: called again after a crash, it finds it. It counts for no person's
   * review unless `counts`; where the host does not let it count, it is a comment. Returns the host's id.
   */
  sayVerdict(pull: PullRequest, verdict: HostVerdict): Promise<string>;
  /** Why a check is red: without secrets and control characters, bounded. Null where the host does not say. */
  explainCheck(check: HostCheck): Promise<CheckExplanation | null>;
}

export interface HostVerdict extends Pick<Verdict, 'commit' | 'verdict'> {
  /** No other verdict has it, and no one can guess it. */
  readonly key: string;
  /** In Markdown. */
  readonly text: string;
  readonly counts: boolean;
}

export interface CheckExplanation {
  /** The step that failed. */
  readonly step: string | null;
  /** The end of its log. */
  readonly output: string;
}

export interface ProposedChange {
  readonly branch: string;
  readonly base: string;
  readonly title: string;
  readonly body: string;
  /** Of Baton's open record at its host. If that one has ended there, it is found, and nothing is proposed. */
  readonly hostNumber?: number | null;
  /** Heads that Baton's runs proposed before: only these may be replaced at a host that has a branch of its own. */
  readonly earlierHeads?: readonly string[];
  /** For people, below the body, at a host where they see nothing else of Baton. In Markdown. */
  readonly receipt?: string;
}

export interface OpenedChange {
  /** Null where Baton's own number is the only one. */
  readonly hostNumber: number | null;
  readonly url: string | null;
  readonly headCommit: string;
  readonly baseCommit: string;
  /** Whether the host has it open; absent where only Baton's own record says so. */
  readonly isOpen?: boolean;
}

/**
 * Whether a head can be merged into its base now. `behind`: it can, and the base has commits that the head lacks.
 * `unknown`: the host did not say, or not yet.
 */
export type Mergeability = 'clean' | 'behind' | 'conflict' | 'unknown';

/** A pull request as its host sees it now. */
export interface PullFacts {
  /** The commit of the branch; null when the branch is gone. */
  readonly headCommit: string | null;
  /** The commit of the base; null when the base is gone. */
  readonly baseCommit: string | null;
  /** The name of the base, where people may choose another one at the host. */
  readonly base?: string;
  /** The reference of the base in the repository on this machine, where its own branch may be behind the host. */
  readonly baseReference?: string;
  /** Whether the branch has no commit that the base lacks. That alone is no merge: a person may have reset it. */
  readonly isEmpty: boolean;
  readonly mergeability: Mergeability;
  /** Files in conflict, at most 100; empty unless the mergeability is `conflict`. */
  readonly conflicts: readonly string[];
  /** The worktree of a person that has the base checked out; null where that is not so, or does not matter. */
  readonly checkedOutIn: string | null;
  /** Not null: the change is in its base. */
  readonly merged: ObservedMerge | null;
  /** Whether it was closed at its host without a merge. A host may close it when its branch is removed or reset. */
  readonly isClosed: boolean;
  /** Who closed it, where the host says. */
  readonly closedBy?: string | null;
  /** The host's own checks of the head; null where the host has none. Those of `review.checks` are in the store. */
  readonly checks: readonly HostCheck[] | null;
  readonly reviews: readonly HostReview[];
}

export interface ObservedMerge {
  /** The commit of the base that brought the change in. */
  readonly commit: string;
  /** Who merged it, where the host or git says; null: unknown. Never the agent that wrote the change. */
  readonly by: string | null;
  /** Null where it is not known. */
  readonly method: MergeMethod | null;
}

export interface HostCheck {
  /** By which the host knows it; null where its output cannot be asked for. */
  readonly id: number | null;
  readonly name: string;
  /** Null while it runs, or was not reported yet. */
  readonly result: CheckResult | null;
  readonly isRequired: boolean;
  readonly url: string | null;
}

/** A word of a reviewer at the host. */
export interface HostReview {
  readonly id: string;
  /** A comment on a line belongs to a review; for the review itself its own id. */
  readonly reviewId: string;
  readonly author: string;
  /** Whether the host lets this person write to the repository: only then the word counts. */
  readonly isTrusted: boolean;
  readonly verdict: 'approved' | 'changes_requested' | 'comment';
  readonly body: string;
  readonly commit: string | null;
  readonly path: string | null;
  readonly line: number | null;
  readonly at: number;
}

export interface MergeRequest {
  /** What the person saw and decided about. */
  readonly headCommit: string;
  readonly baseCommit: string;
  readonly method: MergeMethod;
  /** A person, or Baton itself where the settings let it merge. Agents are refused before this. */
  readonly by: Author;
  readonly at: number;
  /** The last word before the merge, about what the host has at that moment; null: it may be merged. */
  readonly objection?: (now: MergeMoment) => Promise<MergeRefusal | null>;
}

/** What a host has a moment before it merges. */
export type MergeMoment = Pick<PullFacts, 'headCommit' | 'baseCommit' | 'checks' | 'reviews'>;

export type MergeResult =
  | { readonly outcome: 'merged'; readonly commit: string; readonly method: MergeMethod | null }
  | { readonly outcome: 'refused'; readonly refusal: MergeRefusal };

/** Why a change was not merged. Nothing was changed. */
export type MergeRefusal =
  /** The branch has another commit now; null: it is gone. */
  | { readonly code: 'head_moved'; readonly headCommit: string | null }
  /** The base has another commit now; null: it is gone. */
  | { readonly code: 'base_moved'; readonly baseCommit: string | null }
  | { readonly code: 'conflict'; readonly files: readonly string[] }
  /** The histories have no commit in common. */
  | { readonly code: 'unrelated' }
  /**
   * The base is checked out in a worktree, which Baton never writes. `commit` is the finished merge; the person runs
   * `git merge --ff-only` with it in that folder, or `baton pr merge` there.
   */
  | { readonly code: 'checked_out'; readonly folder: string; readonly commit: string }
  /** The worktree in which the person merges has changes that are not committed. */
  | { readonly code: 'dirty'; readonly folder: string }
  /** Git does not know who the person is: `user.name` and `user.email` are not set. */
  | { readonly code: 'no_identity' }
  /** The host protects the base, or required checks are missing. `reason` is the host's. */
  | { readonly code: 'protected'; readonly reason: string }
  | { readonly code: 'checks_missing'; readonly names: readonly string[] }
  /** What Baton merges by itself must fulfil more than what a person merges. */
  | { readonly code: 'not_automatic'; readonly objection: AutoMergeObjection }
  /** Another merged or closed it meanwhile; `read` says which. */
  | { readonly code: 'closed' };
