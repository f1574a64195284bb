import * as z from 'zod';
import { type PullDetail, pullDetail as pullDetailSchema, pullList } from '../../../client/schema/pull.ts';
import { diff } from '../../../client/schema/run.ts';
import { BatonError } from '../../../core/baton-error.ts';
import { copyable } from '../../../core/command/retry-command.ts';
import type { PullRequest } from '../../../core/pull/pull-request.ts';
import { shellArgument } from '../../../core/text/shell-argument.ts';
import { certainTime } from '../../../core/text/time-text.ts';
import type { RunRecord } from '../../../store/tables/runs.ts';
import type { ApiProject } from '../api-project.ts';
import { activitiesOf } from '../present/issue-activity.ts';
import { pageCursor } from '../present/page-cursor.ts';
import { presentAuthor } from '../present/present-command.ts';
import { presentMessages } from '../present/present-message.ts';
import {
  presentAutoMerge,
  presentCheck,
  presentHost,
  presentMerge,
  presentPull,
  presentSentBack,
  presentVerdict,
  withWanted,
} from '../present/present-pull.ts';
import { presentUsage } from '../present/present-usage.ts';
import type { Route } from '../route.ts';
import { findIssue, findIssueId } from './find-issue.ts';
import { inProject, type ReadParts } from './in-project.ts';

const mark = pageCursor(z.object({ below: z.int() }));
/** A number, or the name of an issue: its newest pull request. */
const params = { pull: z.string().trim().min(1).max(500) };

/** Pull requests: their records, what keeps them from being merged, and their diffs. */
export function pullsRoutes(parts: ReadParts): Route[] {
  return [
    inProject(parts, {
      path: '/pulls',
      summary: 'Pull requests, the newest first; by default only the open ones.',
      query: mark.query.extend({ status: z.enum(['open', 'all']).default('open') }),
      answer: pullList,
      handle: async (project, { query: { status, cursor, limit } }) => {
        const { pullRequests } = project.tables;
        const below = mark.read(cursor)?.below;
        const found =
          status === 'open'
            ? (await pullRequests.allOpen(project.id)).toReversed().filter(({ number }) => number < (below ?? Infinity))
            : await pullRequests.list(project.id, { limit: limit + 1, ...(below === undefined ? {} : { below }) });
        const shown = found.slice(0, limit);
        const last = found.length > limit ? shown.at(-1) : undefined;
        return {
          pulls: await Promise.all(
            shown.map(async (pull) => presentPull(pull, await checksOf(project, pull), project.pulls.review().checks)),
          ),
          next: last === undefined ? null : mark.write({ below: last.number }),
        };
      },
    }),
    inProject(parts, {
      path: '/pulls/:pull',
      summary:
        'A pull request by its number or its issue: what was asked, rounds, checks, and whether it can be merged.',
      params,
      answer: pullDetailSchema,
      isCostly: true,
      handle: async (project, { params: { pull }, signal }) =>
        pullDetail(project, await findPull(project, pull), signal),
    }),
    inProject(parts, {
      path: '/pulls/:pull/diff',
      summary: 'The change of a pull request against its base, or what changed since an earlier round.',
      params,
      query: z.object({ since_round: z.coerce.number().int().min(1).optional() }),
      answer: diff,
      isCostly: true,
      handle: async (project, { params: { pull }, query: { since_round } }) => {
        const found = await findPull(project, pull);
        if (since_round === undefined) return project.pulls.diff(found, null);
        const round = (await project.tables.pullRequests.rounds(found)).find((each) => each.round === since_round);
        if (round === undefined)
          throw new BatonError('pull_not_found', `Pull request ${found.number} has no round ${since_round}.`);
        return project.pulls.diff(found, round);
      },
    }),
  ];
}

/** Finds a pull request by its number, or the newest one of an issue. */
async function findPull(project: ApiProject, reference: string): Promise<PullRequest> {
  const { pullRequests } = project.tables;
  const number = /^#?(\d{1,9})$/.exec(reference)?.[1];
  const found =
    number === undefined
      ? await newestOfIssue(project, reference)
      : await pullRequests.read({ project: project.id, number: Number(number) });
  if (found !== null) return found;
  if (number === undefined && (await findIssueId(project, reference)) !== null) {
    throw new BatonError('pull_not_found', `${reference} has no pull request.`, {
      details: { reference },
      nextStep: `See what the issue waits for: \`baton explain ${copyable(reference)}\`.`,
    });
  }
  throw new BatonError('pull_not_found', `There is no pull request "${reference}".`, { details: { reference } });
}

async function newestOfIssue(project: ApiProject, reference: string): Promise<PullRequest | null> {
  const id = await findIssueId(project, reference);
  if (id === null) return null;
  return (await project.tables.pullRequests.latestOfIssues(project.id, [id]))[0] ?? null;
}

function checksOf({ tables }: ApiProject, pull: PullRequest) {
  return tables.checks.list(pull, pull.headCommit);
}

async function pullDetail(project: ApiProject, pull: PullRequest, signal: AbortSignal): Promise<PullDetail> {
  const { tables } = project;
  const key = { project: project.id, issueId: pull.issueId };
  const hasEnded = pull.merged !== null || pull.closed !== null;
  const model = project.read();
  const [rounds, verdicts, checks, usage, issue, said, published, facts] = await Promise.all([
    tables.pullRequests.rounds(pull),
    tables.verdicts.list(pull),
    tables.checks.list(pull),
    tables.usage.sumOfIssue(key),
    findIssue(project, pull.issueId, model, activitiesOf(model)),
    presentMessages(tables, key),
    tables.runs.latestPublications(project.id, [pull.issueId]),
    hasEnded ? null : project.pulls.facts(pull, signal),
  ]);
  const ofModel = model.pulls.get(pull.issueId);
  const lastRun = rounds.findLast(({ runId }) => runId !== null)?.runId ?? null;
  const run = lastRun === null ? null : await tables.runs.read(lastRun);
  const { approved, merged, closed } = pull;
  const governing = published.get(pull.issueId)?.governing;
  const review = project.pulls.review();
  const checksAt = (head: string) => checks.filter(({ commit }) => commit === head);
  const ofHead = checksAt(pull.headCommit);
  return {
    ...presentPull(pull, ofHead, review.checks),
    judge: ofModel?.judge?.status ?? null,
    auto_merge: presentAutoMerge(ofModel),
    body: pull.body,
    repository: pull.repository,
    opened_by: presentAuthor(pull.openedBy),
    sent_back: presentSentBack(pull.sentBack),
    approved: approved === null ? null : { at: certainTime(approved.at), by: presentAuthor(approved.by) },
    merged:
      merged === null
        ? null
        : {
            at: certainTime(merged.at),
            by: presentAuthor(merged.by),
            commit: merged.commit,
            method: merged.method,
          },
    closed: closed === null ? null : { at: certainTime(closed.at), by: presentAuthor(closed.by) },
    merge:
      facts === null
        ? null
        : presentMerge(pull, facts, { checks: ofHead, review, workflow: project.describe().workflow_path }),
    ...(governing === undefined ? {} : { governing: governing === null ? null : [...governing] }),
    at_host: facts === null ? null : presentHost(facts),
    asked: { title: issue?.facts.title ?? pull.title, description: issue?.facts.description ?? null },
    last_message: run?.lastMessage ?? null,
    usage: { ...presentUsage(usage), runs: usage.runs },
    rounds: rounds.map(({ round, headCommit, at, runId, sentBack }, nth) => ({
      round,
      head: headCommit,
      at: certainTime(at),
      run_id: runId,
      sent_back: presentSentBack(sentBack),
      checks: (nth === rounds.length - 1 ? withWanted(pull, ofHead, review.checks) : checksAt(headCommit)).map(
        presentCheck,
      ),
      verdicts: verdicts.filter(({ commit }) => commit === headCommit).map(presentVerdict),
      said: said.filter(({ commit }) => commit === headCommit),
    })),
    checkout_command: `git -C ${shellArgument(pull.repository)} switch ${shellArgument(pull.branch)}`,
    workspace_path: run === null || isRemoved(run) ? null : run.workspace,
  };
}

function isRemoved({ removal }: RunRecord): boolean {
  return removal !== null && removal.keptBecause === null;
}
