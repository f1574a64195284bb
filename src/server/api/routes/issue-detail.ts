import type { IssueDetail } from '../../../client/schema/issue.ts';
import type { Project } from '../../../client/schema/system.ts';
import type { Clock } from '../../../clock/clock.ts';
import type { CommandKind } from '../../../core/command/command.ts';
import { normalizeState } from '../../../core/issue/issue.ts';
import { pullStatus } from '../../../core/pull/pull-request.ts';
import { certainTime } from '../../../core/text/time-text.ts';
import type { ReadModel } from '../../../orchestrator/view/read-model.ts';
import type { ApiProject } from '../api-project.ts';
import { commentStatuses } from '../present/comment-status.ts';
import { actionsOf } from '../present/issue-actions.ts';
import { activitiesOf } from '../present/issue-activity.ts';
import { issueHistory } from '../present/issue-history.ts';
import { presentAuthor } from '../present/present-command.ts';
import { explainIssue } from '../present/present-explanation.ts';
import type { IssueFacts } from '../present/present-issue.ts';
import { presentMessages } from '../present/present-message.ts';
import { presentQuestions } from '../present/present-question.ts';
import { presentRun } from '../present/present-run.ts';
import { presentUsage } from '../present/present-usage.ts';
import { findIssue } from './find-issue.ts';
import { issuePipeline } from './pipeline-routes.ts';

const runsShown = 20;
const questionsShown = 50;
const commentsShown = 500;
/**
 * How many of the latest commands of these kinds are searched for those about the issue; the board records the other
 * kinds.
 */
const commandsSearched = 1_000;
const issueCommands: readonly CommandKind[] = [
  ...(['issue_retry', 'issue_hold', 'issue_release', 'issue_stop'] as const),
  ...(['issue_steer', 'issue_takeover', 'issue_handback', 'question_answer'] as const),
  ...(['phase_move', 'phase_approve', 'phase_reject'] as const),
];

/** Everything that Baton knows about one issue; null when it does not know the issue. */
export async function issueDetail(project: ApiProject, reference: string, clock: Clock): Promise<IssueDetail | null> {
  const model = project.read();
  const found = await findIssue(project, reference, model, activitiesOf(model));
  if (found === null) return null;
  const { tables, id: projectId } = project;
  const { id } = found.facts;
  const key = { project: projectId, issueId: id };
  const described = project.describe();
  const [explained, questions, runs, usage, comments, board, commands, messages, statusOf, [pull], pipeline, planned] =
    await Promise.all([
      explainIssue(project, id, clock),
      tables.questions.list(projectId, { issueId: id, limit: questionsShown }),
      tables.runs.list(projectId, { issueId: id, limit: runsShown }),
      tables.usage.sumOfIssue(key),
      described.has_board ? tables.boardComments.list(key) : [],
      described.has_board ? tables.boardHistory.list(key) : [],
      tables.commands.outlines(projectId, { doneKinds: issueCommands, limit: commandsSearched }),
      presentMessages(tables, key),
      commentStatuses(tables, key),
      tables.pullRequests.latestOfIssues(projectId, [id]),
      issuePipeline(project, id),
      planOf(project, id),
    ]);
  const facts =
    found.isSeen || explained.issue === null ? found.facts : { ...found.facts, ...wordsOf(explained.issue) };
  return {
    ...facts,
    ...explained.detail,
    moves: project
      .movesFrom(facts.state)
      .map(({ to, whyNot }) => ({ to, is_allowed: whyNot === null, why_not: whyNot })),
    actions: actionsOf(facts, model, { hasBoard: described.has_board, stateKind: stateKindOf(facts, described) }),
    held: heldOf(model, id),
    retry: retryOf(model, id),
    pull: pull === undefined ? null : { number: pull.number, status: pullStatus(pull) },
    pipeline,
    ...planned,
    messages,
    questions: await presentQuestions(questions, project, model),
    runs: runs.map(presentRun),
    history: issueHistory({ issue: facts, board, commands, questions }),
    comments: comments.slice(-commentsShown).map((comment) => ({
      at: certainTime(comment.at),
      author: presentAuthor(comment.author),
      body: comment.body,
      status: statusOf(comment),
    })),
    usage: { ...presentUsage(usage), runs: usage.runs },
  };
}

/** Its plan, and the plan that it is part of. The board says in which state the parts are; other trackers are not asked. */
async function planOf(
  { tables, id: project, describe }: ApiProject,
  issueId: string,
): Promise<Pick<IssueDetail, 'plan' | 'part_of'>> {
  const { plan, partOf } = await tables.plans.factsOf({ project, issueId });
  const ids = [...(plan?.children.map(({ id }) => id) ?? []), ...(partOf === null ? [] : [partOf.parentId])];
  const known = describe().has_board && ids.length > 0 ? await tables.boardIssues.readMany(project, ids) : [];
  const named = new Map(known.map((issue) => [issue.id, issue]));
  const [run] = partOf === null ? [] : await tables.runs.list(project, { issueId: partOf.parentId, limit: 1 });
  return {
    plan:
      plan === null
        ? null
        : {
            summary: plan.summary,
            at: certainTime(plan.at),
            is_made: plan.madeAt !== null,
            parts: plan.children.map(({ id, identifier, title }) => ({
              issue_id: id,
              issue_identifier: identifier,
              title,
              state: named.get(id)?.status ?? null,
            })),
          },
    part_of:
      partOf === null
        ? null
        : {
            issue_id: partOf.parentId,
            issue_identifier: named.get(partOf.parentId)?.identifier ?? run?.identifier ?? null,
          },
  };
}

function wordsOf({
  title,
  state,
}: {
  readonly title: string;
  readonly state: string;
}): Pick<IssueFacts, 'title' | 'state'> {
  return { title, state };
}

function stateKindOf({ state }: IssueFacts, { states }: Project): Project['states'][number]['kind'] {
  return states.find(({ name }) => normalizeState(name) === normalizeState(state))?.kind ?? 'other';
}

function heldOf({ held }: ReadModel, issueId: string): IssueDetail['held'] {
  const entry = held.find(({ issue }) => issue.id === issueId);
  if (entry === undefined) return null;
  const { code, reason, since, runId } = entry;
  return { code, text: reason, since: certainTime(since), run_id: runId };
}

function retryOf({ retrying, waitingQuota }: ReadModel, issueId: string): IssueDetail['retry'] {
  const retry = [...retrying, ...waitingQuota].find(({ issue }) => issue.id === issueId);
  if (retry === undefined) return null;
  const { kind, attempt, dueAt, error } = retry;
  return { kind, attempt, due_at: certainTime(dueAt), error };
}
