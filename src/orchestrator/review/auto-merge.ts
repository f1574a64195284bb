import { toBatonError } from '../../core/baton-error.ts';
import { whyNotBatons } from '../../core/dispatch/eligibility.ts';
import { type Issue, isInOneOf } from '../../core/issue/issue.ts';
import { type AutoMergeObjection, isForAutoMerge, whyNotAutoMerged } from '../../core/pull/auto-merge.ts';
import { judgeState } from '../../core/pull/judge.ts';
import type { OpenPull } from '../../core/pull/open-pull.ts';
import { checksVerdict, type PullRequest } from '../../core/pull/pull-request.ts';
import type { Settings } from '../../core/settings.ts';
import { mergeChange } from '../../pulls/changes.ts';
import type { MergeMoment, MergeRefusal, PullRequests } from '../../pulls/pull-requests.ts';
import type { Claims } from '../claims/claims.ts';
import type { Pause } from '../commands/pause.ts';
import type { BaseParts } from '../parts.ts';
import { type FinishParts, finishIssue } from './finish-issue.ts';

export interface AutoMergeParts extends FinishParts, Pick<BaseParts, 'project'> {
  readonly claims: Pick<Claims, 'elsewhere' | 'has'>;
  readonly pause: Pick<Pause, 'whyPaused'>;
}

/** A merge that was refused is tried again after this time, or with another commit. */
const againMs = 60_000;
const caller = { job: 'review', cause: 'poll' } as const;

/**
 * Merges the changes for which `review.auto_merge` asks. The host calls back with what it has a moment before it merges, and
 * everything else is read again then: the store, the tracker and the settings (`whyNotAutoMerged` has the conditions). A
 * crash at any point leaves the change as it was, or merged: then the watch over pull requests finds it in its base.
 */
export class AutoMerge {
  readonly #parts: AutoMergeParts;
  readonly #busy = new Set<number>();
  readonly #refused = new Map<number, Refused>();

  constructor(parts: AutoMergeParts) {
    this.#parts = parts;
  }

  /** Whether Baton merges a change, by what was last read; null: people merge it. `checks`: also those of the host. */
  stateOf(pull: PullRequest, { judge, checks }: Pick<OpenPull, 'judge' | 'checks'>): OpenPull['autoMerge'] {
    const { reads, source } = this.#parts;
    const { settings } = source.read().workflow;
    const labels = reads.lastRead(pull.issueId)?.labels ?? [];
    if (!isForAutoMerge(labels, settings.review.autoMerge)) return null;
    const commits = { head: pull.headCommit, base: pull.baseCommit, reviewedBase: pull.baseCommit };
    const known = { pull, isIssueReady: true, ...commits, judge, reviews: [], checks, governing: [] };
    const early = whyNotAutoMerged(known);
    return { isReady: early === null, objection: early ?? this.#refusalOf(pull)?.code ?? null };
  }

  /** Tries those that are ready, one after the other: each merge moves the base of the next. True: one was merged. */
  async merge(
    pulls: PullRequests,
    open: readonly PullRequest[],
    known: ReadonlyMap<string, OpenPull>,
  ): Promise<boolean> {
    const { clock, stopping } = this.#parts;
    const numbers = new Set(open.map(({ number }) => number));
    for (const number of this.#refused.keys()) if (!numbers.has(number)) this.#refused.delete(number);
    let isMerged = false;
    for (const pull of open.filter(({ issueId }) => known.get(issueId)?.autoMerge?.isReady === true)) {
      const refused = this.#refusalOf(pull);
      const isSoon = refused !== null && clock.monotonic() - refused.at < againMs;
      if (isSoon || this.#busy.has(pull.number) || stopping.aborted) continue;
      this.#busy.add(pull.number);
      try {
        isMerged = (await this.#try(pulls, pull)) || isMerged;
      } finally {
        this.#busy.delete(pull.number);
      }
    }
    return isMerged;
  }

  async #try(pulls: PullRequests, pull: PullRequest): Promise<boolean> {
    const { clock, logger, notify, requestTick, source, store } = this.#parts;
    const { headCommit } = pull;
    try {
      const result = await mergeChange(
        { store, pulls, onMerged: (each, merged) => finishIssue(this.#parts, each, merged) },
        pull,
        {
          headCommit,
          baseCommit: (await this.#reviewedBase(pull)) ?? '',
          method: source.read().workflow.settings.review.mergeMethod,
          by: { kind: 'orchestrator' },
          at: clock.now(),
          objection: async (now) => asRefusal(await this.#objection(pull, now)),
        },
      );
      if (result.outcome === 'merged') {
        notify();
        requestTick();
        return true;
      }
      const { refusal } = result;
      this.#refuse(pull, refusal.code === 'not_automatic' ? refusal.objection : refusal.code);
    } catch (thrown) {
      const error = toBatonError(thrown);
      logger.warn('automatic_merge_failed', { ...nameOf(pull), error });
      this.#refuse(pull, error.code);
    }
    return false;
  }

  async #reviewedBase(pull: PullRequest): Promise<string | null> {
    const rounds = await this.#parts.store.pullRequests.rounds(pull);
    return rounds.findLast(({ headCommit }) => headCommit === pull.headCommit)?.baseCommit ?? null;
  }

  async #objection({ number, issueId }: PullRequest, now: MergeMoment): Promise<AutoMergeObjection | null> {
    const { project, source, store, reads } = this.#parts;
    reads.forget(issueId);
    const issue = (await reads.byIds([issueId], caller)).get(issueId) ?? null;
    const pull = await store.pullRequests.read({ project, number });
    if (pull === null) return 'not_in_review';
    const published = (await store.runs.latestPublications(project, [issueId])).get(issueId);
    const { headCommit: head } = pull;
    const reviewedBase = await this.#reviewedBase(pull);
    const { settings } = source.read().workflow;
    const wanted = settings.review.checks.map(({ name }) => name);
    // Last, because they change soonest.
    const verdicts = await store.verdicts.list(pull);
    const own = await store.checks.list(pull, head);
    return whyNotAutoMerged({
      pull,
      isIssueReady: issue !== null && this.#isReady(issue, settings),
      head: now.headCommit,
      base: now.baseCommit,
      reviewedBase,
      judge: judgeState(pull, verdicts, 'none', settings.judge),
      reviews: now.reviews.flatMap(({ author, verdict, commit, isTrusted }) => {
        const isOld = verdict === 'approved' && commit !== head;
        return verdict === 'comment' || !isTrusted ? [] : [{ author, verdict: isOld ? 'comment' : verdict }];
      }),
      checks: checksVerdict([...own, ...(now.checks ?? [])], wanted),
      governing: published?.commit !== head ? null : published.governing === undefined ? [] : published.governing,
    });
  }

  #isReady(issue: Issue, { review, tracker }: Settings): boolean {
    const { claims, pause } = this.#parts;
    const isElsewhere = claims.elsewhere.some(({ issueId }) => issueId === issue.id);
    const isFree = !claims.has(issue.id) && !isElsewhere && pause.whyPaused() === null;
    const isIn = isInOneOf(tracker.reviewStates)(issue) && whyNotBatons(issue, tracker) === null;
    return isFree && isIn && isForAutoMerge(issue.labels, review.autoMerge);
  }

  #refuse(pull: PullRequest, code: string): void {
    const { clock, logger, notify } = this.#parts;
    const isNews = this.#refusalOf(pull)?.code !== code;
    this.#refused.set(pull.number, { head: pull.headCommit, code, at: clock.monotonic() });
    if (!isNews) return;
    logger.info('change_not_merged', { ...nameOf(pull), objection: code });
    notify();
  }

  #refusalOf({ number, headCommit }: PullRequest): Refused | null {
    const refused = this.#refused.get(number);
    return refused?.head === headCommit ? refused : null;
  }
}

interface Refused {
  readonly head: string;
  readonly code: string;
  /** On the monotonic clock. */
  readonly at: number;
}

function nameOf({ number, issueId, identifier, headCommit }: PullRequest): Readonly<Record<string, unknown>> {
  return { issue_id: issueId, issue_identifier: identifier, pull_request: number, commit: headCommit };
}

function asRefusal(objection: AutoMergeObjection | null): MergeRefusal | null {
  return objection === null ? null : { code: 'not_automatic', objection };
}
