import path from 'node:path';
import type { Pull, PullDetail } from '../../../client/schema/pull.ts';
import type { Verdict } from '../../../core/pull/judge.ts';
import type { OpenPull } from '../../../core/pull/open-pull.ts';
import {
  type Check,
  headVerdict,
  type MergeMethod,
  type PullRequest,
  pullStatus,
  type SentBack,
  standsInReview,
} from '../../../core/pull/pull-request.ts';
import type { ReviewSettings } from '../../../core/settings.ts';
import { shellArgument } from '../../../core/text/shell-argument.ts';
import { certainTime, timeText } from '../../../core/text/time-text.ts';
import type { PullFacts } from '../../../pulls/pull-requests.ts';
import { presentAuthor } from './present-command.ts';

type ReviewChecks = ReviewSettings['checks'];

/** A pull request in a list; `checks` are those of its head, `wanted` those of the settings. */
export function presentPull(pull: PullRequest, checks: readonly Check[], wanted: ReviewChecks): Pull {
  return {
    issue_id: pull.issueId,
    issue_identifier: pull.identifier,
    number: pull.number,
    title: pull.title,
    status: pullStatus(pull),
    branch: pull.branch,
    base: pull.base,
    head: pull.headCommit,
    checks: headVerdict(
      pull,
      checks,
      wanted.map(({ name }) => name),
    ),
    times_sent_back: pull.timesSentBack,
    opened_at: certainTime(pull.openedAt),
    standing_since: certainTime(pull.standingSince),
    url: pull.url,
  };
}

export function presentSentBack(sentBack: SentBack | null): PullDetail['sent_back'] {
  if (sentBack === null) return null;
  const { at, by, kind } = sentBack;
  return { at: certainTime(at), by: presentAuthor(by), kind };
}

/** The checks of a head that is in review, also those that are not planned yet. */
export function withWanted(pull: PullRequest, checks: readonly Check[], wanted: ReviewChecks): readonly Check[] {
  if (!standsInReview(pull)) return checks;
  const missing = wanted.filter(({ name }) => checks.every((check) => check.name !== name));
  const unplanned = { startedAt: null, endedAt: null, exitCode: null, result: null, output: null };
  return [
    ...checks,
    ...missing.map(({ name, run }) => ({ commit: pull.headCommit, name, command: run, ...unplanned })),
  ];
}

export function presentCheck({ name, command, startedAt, endedAt, exitCode, result, output }: Check) {
  return {
    name,
    command,
    started_at: timeText(startedAt),
    ended_at: timeText(endedAt),
    exit_code: exitCode,
    result,
    output,
  };
}

export function presentVerdict({ verdict, summary, findings, agent, runId, at }: Verdict) {
  return {
    verdict,
    summary,
    findings: findings.map((each) => ({ ...each })),
    agent,
    run_id: runId,
    at: certainTime(at),
  };
}

interface MergeContext {
  /** Those of the head that Baton ran. */
  readonly checks: readonly Check[];
  readonly review: Pick<ReviewSettings, 'checks' | 'mergeMethod'>;
  /** The path of the workflow file. */
  readonly workflow: string;
}

/** Whether a change can be merged now. */
export function presentMerge(
  { number, headCommit: head, base }: Pick<PullRequest, 'number' | 'headCommit' | 'base'>,
  facts: PullFacts,
  { checks, review, workflow }: MergeContext,
): PullDetail['merge'] {
  const { mergeability, conflicts, headCommit, baseCommit, checkedOutIn } = facts;
  const missing = missingChecks([...checks, ...(headCommit === head ? (facts.checks ?? []) : [])], review.checks);
  const method: MergeMethod = review.mergeMethod;
  const merge = {
    missing_checks: missing,
    files: [...conflicts],
    base_commit: baseCommit,
    method,
    folder: checkedOutIn,
  };
  const no = (code: string, text: string) => ({ ...merge, is_possible: false, code, text, commands: [] });
  if (headCommit === null) return no('head_gone', 'The branch is gone.');
  if (baseCommit === null) return no('base_gone', `The base ${base} is gone.`);
  if (headCommit !== head) return no('head_moved', 'The branch has moved since this page was read.');
  if (mergeability === 'conflict') return no('conflict', `The change conflicts with ${base}.`);
  const required = (facts.checks ?? []).filter(({ isRequired, result }) => isRequired && result !== 'passed');
  if (required.length > 0)
    return no(
      'checks_missing',
      `Its host requires checks that have not passed: ${required.map(({ name }) => name).join(', ')}.`,
    );
  const command = `baton pr merge ${number}${missing.length === 0 ? '' : ' --ignore-checks'}`;
  if (checkedOutIn === null) {
    const text = mergeability === 'behind' ? `${base} has newer commits; the change merges without conflicts.` : '';
    return { ...merge, is_possible: true, code: mergeability, text, commands: [command] };
  }
  const text = `${base} is checked out in ${checkedOutIn}, where the daemon does not write. Merge it in that folder.`;
  const found = path.join(checkedOutIn, 'WORKFLOW.md') === workflow ? '' : ` --workflow ${shellArgument(workflow)}`;
  return { ...no('checked_out', text), commands: [`cd ${shellArgument(checkedOutIn)}`, command + found] };
}

/** As a merge counts them: every check has to pass, also one that is not planned yet. */
function missingChecks(
  checks: readonly Pick<Check, 'name' | 'result'>[],
  wanted: ReviewChecks,
): NonNullable<PullDetail['merge']>['missing_checks'] {
  const unplanned = wanted.filter(({ name }) => checks.every((check) => check.name !== name));
  return [...checks, ...unplanned.map(({ name }) => ({ name, result: null }))].flatMap(({ name, result }) =>
    result === 'passed' ? [] : [{ name, result }],
  );
}

export function presentAutoMerge(open: OpenPull | undefined): PullDetail['auto_merge'] {
  const autoMerge = open?.autoMerge ?? null;
  return autoMerge === null ? null : { objection: autoMerge.objection };
}

/** What people and checks say at the host; null where Baton itself is the host. */
export function presentHost({ checks, reviews }: PullFacts): PullDetail['at_host'] {
  if (checks === null) return null;
  return {
    checks: checks.map(({ name, result, isRequired, url }) => ({ name, result, is_required: isRequired, url })),
    reviews: reviews.map(({ author, isTrusted, verdict, body, path, line, commit, at }) => ({
      author,
      verdict,
      body,
      path,
      line,
      commit,
      is_trusted: isTrusted,
      at: certainTime(at),
    })),
  };
}
