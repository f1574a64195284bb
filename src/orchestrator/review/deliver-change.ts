import { BatonError, toBatonError } from '../../core/baton-error.ts';
import { whyNotRoutable } from '../../core/dispatch/eligibility.ts';
import { type Issue, isInOneOf } from '../../core/issue/issue.ts';
import { stateFor } from '../../core/issue/state-role.ts';
import type { PullRequest } from '../../core/pull/pull-request.ts';
import { receiptOf } from '../../core/pull/receipt.ts';
import type { Publication } from '../../core/run/run-evidence.ts';
import type { Settings } from '../../core/settings.ts';
import { harmlessLine, harmlessLines } from '../../core/text/harmless-line.ts';
import { proposeChange } from '../../pulls/changes.ts';
import type { PullRequests } from '../../pulls/pull-requests.ts';
import type { RunRecord } from '../../store/tables/runs.ts';
import type { Retrying } from '../claims/claim.ts';
import type { BaseParts } from '../parts.ts';
import { askAsBaton } from '../status/ask-as-baton.ts';
import { type MoveParts, moveIssue } from '../status/move-issue.ts';

export interface DeliverParts
  extends MoveParts,
    Pick<BaseParts, 'logger' | 'project' | 'source' | 'store' | 'trackerFor'> {
  /** The host of pull requests by these settings; null where there is none. */
  readonly pullsFor: (settings: Settings) => PullRequests | null;
}

const longestTitleChars = 200;
const longestBodyChars = 20_000;
/** More runs than an issue may have. */
const mostRuns = 200;
const caller = { job: 'review', cause: 'retry' } as const;

/**
 * Brings the published commits of an issue into review: the pull request is opened at its host, or found there; its row
 * stands with the head; the issue is moved to review. Each step finds what an earlier try did, so a crash or an error
 * anywhere repeats it and nothing happens twice. An issue that a person has finished, moved elsewhere, or taken from Baton
 * (its label, its assignee) is left alone, and so is its branch; one that is in review already has its pull request.
 * Returns the issue as it is afterwards, null when the tracker does not have it; the caller releases its claim. Rejects
 * when the tracker, the host or the store does not answer: the caller tries again later.
 */
export async function deliverChange(parts: DeliverParts, { issue: { id } }: Retrying): Promise<Issue | null> {
  const { store, project, source, logger, reads } = parts;
  const { settings } = source.read().workflow;
  const issue = (await reads.byIds([id], caller)).get(id) ?? null;
  const pulls = parts.pullsFor(settings);
  if (issue === null || pulls === null) return issue;
  const { tracker } = settings;
  const isThere = isInOneOf(tracker.reviewStates)(issue);
  if (!isThere && whyNotRoutable(issue, tracker) !== null) return issue;
  const [run] = await store.runs.list(project, { issueId: id, limit: 1 });
  const publication = run?.evidence?.publication;
  if (run === undefined || publication?.branch == null || publication.base == null) {
    if (isThere) return issue;
    // Released, the issue would run again and again, and never reach review.
    throw new BatonError('change_missing', 'The branch that the change goes into is not known.', {
      nextStep: 'Set `workspace.base`, or check out a branch in the repository.',
      details: { branch: publication?.branch ?? null, base: null },
    });
  }
  const { branch, base } = publication;
  const change = { branch, base, ...wordsOf(issue, run) };
  const { title, body } = change;
  const runs = pulls.remote === undefined ? [] : await store.runs.list(project, { issueId: id, limit: mostRuns });
  const receipt = pulls.remote === undefined ? {} : { receipt: receiptOf(issue, runs, settings.review.checks) };
  const pull = await proposeChange(
    { store, pulls },
    {
      project,
      issueId: id,
      identifier: issue.identifier,
      ...change,
      ...receipt,
      commit: publication.commit,
      earlierHeads: runs.flatMap(({ evidence }) => publishedBy(evidence?.publication)),
      repository: settings.workspace.repo?.shown ?? '',
      at: parts.clock.now(),
      by: { kind: 'run', runId: run.runId },
    },
  );
  // It was merged or closed while this was tried.
  if (pull.merged !== null || pull.closed !== null) return issue;
  if (run.evidence?.proposal !== undefined && (pull.title !== title || pull.body !== body)) {
    await pulls.update(pull, { title, body, ...receipt });
    await store.pullRequests.describe(pull, { title, body });
  }
  if (pulls.remote !== undefined) await linkToChange(parts, settings, issue, pull);
  const { headCommit } = pull;
  const moved = isThere ? issue : await moveToReview(parts, settings, issue);
  await recordMove(parts, pull);
  const named = { issue_id: id, issue_identifier: issue.identifier, number: pull.number, commit: headCommit };
  logger.info('change_in_review', named);
  return moved;
}

/** A person may have sent it back while its issue was being moved. Then the issue is to leave review again. */
async function recordMove({ store: { pullRequests }, clock }: DeliverParts, pull: PullRequest): Promise<void> {
  if (await pullRequests.moved(pull, pull.headCommit, clock.now())) return;
  await pullRequests.moveBackAgain(pull, pull.headCommit);
}

/** A head may be at the host although its delivery ended before that was recorded. */
function publishedBy(publication: Publication | undefined): readonly string[] {
  return publication?.outcome === 'published' && publication.commit !== null ? [publication.commit] : [];
}

/** The counter of an issue that says which number at the host its last comment names. */
const linkedTo = 'linked_to_pull';

/**
 * The issue gets the address of its change at the host, once, where comments are wanted. It is noted before: after a crash
 * a missing comment is better than two. A comment that fails does not keep the change from review.
 */
async function linkToChange(parts: DeliverParts, settings: Settings, { id }: Issue, pull: PullRequest): Promise<void> {
  const { store, project, trackerFor, logger } = parts;
  const { changes } = trackerFor(settings);
  const { url, hostNumber } = pull;
  if (!settings.tracker.comments || changes === null || url === null || hostNumber === null) return;
  const key = { project, issueId: id };
  if ((await store.counters.read(key))[linkedTo] === hostNumber) return;
  await store.counters.set(key, linkedTo, hostNumber);
  const ask = askAsBaton(parts, id, { caller });
  await changes.addComment(id, `Baton opened a pull request: ${url}`, { kind: 'orchestrator' }, ask).catch((error) => {
    logger.warn('change_not_linked', { issue_id: id, issue_identifier: pull.identifier, error });
  });
}

/** By the tracker's rules only: a refusal means that someone moved it a moment before, and that stays. */
export async function moveToReview(parts: DeliverParts, settings: Settings, issue: Issue): Promise<Issue> {
  const { trackerFor, logger } = parts;
  const { state } = stateFor('review', settings.tracker);
  const { changes } = trackerFor(settings);
  if (state === null || changes === null) return issue;
  try {
    const by = { kind: 'orchestrator' } as const;
    return await moveIssue(parts, changes, { id: issue.id, to: state, by, caller, from: issue.state });
  } catch (thrown) {
    const error = toBatonError(thrown, 'tracker_request');
    if (error.code !== 'board_move_refused') throw error;
    logger.warn('review_move_refused', { issue_id: issue.id, issue_identifier: issue.identifier, error });
    return issue;
  }
}

/** The agent's words, or those of its issue and its last message. They are an agent's: for people, never for a program. */
function wordsOf({ title }: Issue, { evidence, lastMessage }: RunRecord): Pick<PullRequest, 'title' | 'body'> {
  const words = evidence?.proposal ?? { title, body: lastMessage ?? '' };
  return {
    title: harmlessLine(words.title).slice(0, longestTitleChars),
    body: harmlessLines(words.body).slice(0, longestBodyChars),
  };
}
