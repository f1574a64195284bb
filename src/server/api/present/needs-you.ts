import type { NeedsYou, Vitals } from '../../../client/schema/now.ts';
import { utcDay } from '../../../core/cadence/utc-day.ts';
import type { Issue } from '../../../core/issue/issue.ts';
import { type AutoMergeObjection, autoMergeObjections } from '../../../core/pull/auto-merge.ts';
import type { OpenPull } from '../../../core/pull/open-pull.ts';
import { governingText } from '../../../core/run/governing-files.ts';
import { limitHold } from '../../../core/run/limits.ts';
import { waitingSettingText } from '../../../core/settings/waiting-setting.ts';
import { timeText } from '../../../core/text/time-text.ts';
import type { Hold } from '../../../orchestrator/claims/claim.ts';
import type { ReadModel } from '../../../orchestrator/view/read-model.ts';
import { actionsOfHold } from './issue-actions.ts';
import { rowName } from './present-issue.ts';
import { phasesOfRows } from './present-pipeline.ts';

/**
 * What waits for a person, the most urgent first: questions of agents, problems of Baton, changes of the workflow
 * file, reached limits of the day, accounts without a login, holds, reviews, proposals. Each row stays under one key as long as it waits.
 */
export function needsYou(model: ReadModel, known: ReadonlyMap<string, Issue>): NeedsYou[] {
  return [
    ...questions(model, known),
    ...problems(model),
    ...workflowChanges(model),
    ...dayLimits(model),
    ...accounts(model),
    ...holds(model, known),
    ...reviews(model),
    ...proposals(model),
  ];
}

function questions(model: ReadModel, known: ReadonlyMap<string, Issue>): NeedsYou[] {
  const phaseOf = phasesOfRows(model);
  return model.questions.map(({ id, issue, runId, question, askedAt, until }) => ({
    ...rowName(issue, known),
    ...phaseOf(issue.id),
    key: `question:${id}`,
    kind: 'question',
    code: question.kind,
    reason: question.text,
    since: timeText(askedAt),
    run_id: runId,
    question_id: id,
    waits_until: timeText(until),
    actions: ['question_answer', 'issue_takeover', 'issue_stop'],
  }));
}

/** An issue whose run asks needs no row here: its question already has one. */
function holds(model: ReadModel, known: ReadonlyMap<string, Issue>): NeedsYou[] {
  const phaseOf = phasesOfRows(model);
  return model.held.map((entry) => ({
    ...rowName(entry.issue, known),
    ...phaseOf(entry.issue.id),
    key: `held:${entry.issue.id}`,
    kind: isLimit(entry) ? 'limit' : 'held',
    code: entry.code,
    ...marked(entry.reason, model.governing.get(entry.issue.id)),
    since: timeText(entry.since),
    run_id: entry.runId,
    question_id: null,
    waits_until: null,
    actions: [...actionsOfHold(entry.code)],
  }));
}

function isLimit({ code }: Hold): boolean {
  return code === 'limit_reached' || code.endsWith('_limit');
}

type ReviewRow = NeedsYou & { readonly issue_id: string; readonly issue_identifier: string };

/** The changes that wait for a person: not for their checks and their judge, nor for Baton to merge them. */
export function reviews({ reviews: waiting, governing, held, running, retrying, pulls }: ReadModel): ReviewRow[] {
  const busy = new Set([...held, ...running, ...retrying].map(({ issue }) => issue.id));
  const isJudged = (id: string): boolean => ['waits', 'wanted'].includes(pulls.get(id)?.judge?.status ?? '');
  const isMerged = (id: string): boolean => pulls.get(id)?.autoMerge?.objection === null;
  return waiting
    .filter(({ id }) => !busy.has(id) && !isJudged(id) && !isMerged(id))
    .map((issue) => ({
      ...rowName(issue, new Map([[issue.id, issue]])),
      key: `review:${issue.id}`,
      kind: 'review',
      code: 'review',
      ...marked(reviewText(pulls.get(issue.id)), governing.get(issue.id)),
      since: timeText(issue.updatedAt),
      run_id: null,
      question_id: null,
      waits_until: null,
      actions: ['issue_move', 'issue_comment'],
      ...(pulls.has(issue.id) ? { pull: pulls.get(issue.id)?.number } : {}),
    }));
}

/** What is known of a change without reading it. */
function reviewText(pull: OpenPull | undefined): string {
  const what = pull?.status === 'approved' ? 'an approved change waits to be merged' : 'a change waits for your review';
  return `${what}${checkTexts[pull?.checks ?? 'none']}${judgeText(pull?.judge)}${autoMergeText(pull?.autoMerge?.objection)}`;
}

/** A label asks Baton to merge it: why it does not. Checks and approval are named already. */
function autoMergeText(objection: string | null | undefined): string {
  if (objection === undefined || objection === null || objection === 'not_approved') return '';
  const text = Object.hasOwn(autoMergeObjections, objection)
    ? autoMergeObjections[objection as AutoMergeObjection]
    : objection;
  return `; Baton does not merge it: ${text}`;
}

function judgeText(judge: OpenPull['judge'] | undefined): string {
  if (judge?.status !== 'approved' && judge?.status !== 'rejected') return '';
  const { status, isDivided } = judge;
  const said = status === 'approved' ? 'approve' : 'reject';
  const who = isDivided ? `its judges disagree; together they ${said} it` : `its judge ${said}s it`;
  return `; ${who}${status === 'rejected' ? ', and a person decides' : ''}`;
}

const checkTexts: Readonly<Record<OpenPull['checks'], string>> = {
  none: '',
  waiting: '; its checks are running',
  green: '; its checks are green',
  red: '; a check is red',
  incomplete: '; not all of its checks ran',
};

/** A change that controls agents or CI takes effect when it is merged: people hear of it before. */
function marked(
  reason: string,
  files: readonly string[] | null | undefined,
): Pick<NeedsYou, 'reason'> & { governing?: string[] | null } {
  const mark = governingText(files);
  if (mark === null || files === undefined) return { reason };
  return { reason: `${reason}; ${mark}`, governing: files === null ? null : [...files] };
}

/** Only accounts that need a login: a quota resets by itself. */
function accounts({ accounts: all }: ReadModel): NeedsYou[] {
  return all.flatMap(({ backend, name, parked, waitsFor }) =>
    parked?.why !== 'auth'
      ? []
      : [
          {
            ...noIssue,
            key: `account:${backend}/${name}`,
            kind: 'account' as const,
            code: 'agent_auth_failed',
            reason: waitsFor ?? parked.reason,
            since: timeText(parked.since),
          },
        ],
  );
}

function problems(model: ReadModel): NeedsYou[] {
  return problemsOf(model).map(({ code, text }) => ({
    ...noIssue,
    key: `daemon:${code}`,
    kind: 'daemon' as const,
    code,
    reason: text,
    since: null,
  }));
}

/** What agents proposed, and no person has decided about. */
function proposals({ proposals: tasks }: ReadModel): NeedsYou[] {
  return tasks.map(({ id, title, kind, changedAt }) => ({
    ...noIssue,
    key: `proposal:${id}`,
    kind: 'proposal',
    code: 'proposals_wait',
    reason: `An agent has proposed something for you to accept: ${title}. To see it: baton ${kind} show ${id}`,
    since: timeText(changedAt),
    actions: [],
  }));
}

/** The key has the revision: a further change of the file is another row. */
function workflowChanges({ workflowWaiting: waiting }: ReadModel): NeedsYou[] {
  if (waiting === null) return [];
  const { revision, since, settings } = waiting;
  const changes = settings.map(waitingSettingText).join('; ');
  return [
    {
      ...noIssue,
      key: `workflow:${revision}`,
      kind: 'workflow',
      code: 'workflow_changes_wait',
      reason: `The workflow file was changed, and an agent could have done it. Until you confirm the changes (baton reload), the earlier values stay in force. ${changes}`,
      since: timeText(since),
      actions: ['reload'],
      revision,
    },
  ];
}

/**
 * A limit of the day is reached: nothing runs, and nothing starts before the next day unless a person allows more. The
 * key contains the day and where the allowance began, so that reaching the limit again makes a new row.
 */
function dayLimits({ at, today }: ReadModel): NeedsYou[] {
  return (today.reached ?? []).map((finding) => ({
    ...noIssue,
    key: `limit:${finding.limit}:${utcDay(at)}:${finding.allowedAfter}`,
    kind: 'limit' as const,
    code: finding.limit,
    reason: limitHold(finding, '').reason,
    since: null,
    actions: ['resume'],
  }));
}

/** The problems of Baton itself; empty when there are none. */
export function problemsOf({ workflowProblem, noHeadroom, environment, errors, jobs }: ReadModel): Vitals['problems'] {
  const failing = jobs.filter(({ failures }) => failures > 1);
  return [
    ...(workflowProblem === null ? [] : [{ code: workflowProblem.code, text: workflowProblem.message }]),
    ...(noHeadroom === null ? [] : [{ code: 'no_headroom', text: `nothing new starts: ${noHeadroom}` }]),
    ...(environment === null ? [] : [{ code: environment.code, text: `no run can begin: ${environment.text}` }]),
    ...new Map(errors.map(({ error }) => [error.code, { code: error.code, text: error.message }])).values(),
    ...failing.map(({ name, failures, error }) => ({
      code: `job_${name}`,
      text: `the job ${name} failed ${failures} times in a row: ${error ?? 'no reason given'}`,
    })),
  ];
}

const noIssue = {
  issue_id: null,
  issue_identifier: null,
  title: null,
  issue_url: null,
  run_id: null,
  question_id: null,
  waits_until: null,
  actions: [],
};
