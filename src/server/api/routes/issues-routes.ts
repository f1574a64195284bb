import * as z from 'zod';
import { explainedIssue, issueDetail as issueDetailSchema, issueList } from '../../../client/schema/issue.ts';
import { diff } from '../../../client/schema/run.ts';
import { normalizeLabels } from '../../../core/issue/issue.ts';
import type { IssuePlace } from '../../../core/issue/issue-place.ts';
import { issueNotFound } from '../api-refusal.ts';
import type { IssueFilter } from '../present/issue-filter.ts';
import { pageCursor } from '../present/page-cursor.ts';
import { explained } from '../present/present-explanation.ts';
import { summaryOf } from '../present/present-issue.ts';
import type { Route } from '../route.ts';
import { findIssueId } from './find-issue.ts';
import { inProject, invalidRequest, type ReadParts } from './in-project.ts';
import { issueDetail } from './issue-detail.ts';
import { boardStatusesOf, listIssues } from './list-issues.ts';

const words = z.string().trim().min(1).max(200);
const place = z.union([z.tuple([z.int().min(-1), z.string()]), z.tuple([z.int(), z.int(), z.string()])]);
const mark = pageCursor<IssuePlace>(place);

/** The filters of the list. Only `state` may occur several times and then matches any of its values. */
const listQuery = mark.query.extend({
  state: z.union([words, z.array(words).max(20)]).optional(),
  q: words.optional(),
  label: words.optional(),
  priority: z.union([z.coerce.number().int().min(0).max(99), z.literal('none')]).optional(),
  activity: z.enum(['running', 'retrying', 'held', 'asking']).optional(),
  order: z.enum(['changed', 'start']).default('changed'),
});

/** Issues of our own board, or the issues that Baton sees in an external tracker. */
export function issuesRoutes(parts: ReadParts): Route[] {
  const { clock } = parts;
  const params = { issue: z.string().max(500) };
  return [
    inProject(parts, {
      path: '/issues',
      summary:
        'Issues, latest change first, or in the order in which they start. A page may be short or empty although another page follows.',
      query: listQuery,
      answer: issueList,
      // A text search reads all issues.
      isCostly: ({ q }) => q !== undefined,
      handle: async (project, { query }) => {
        const filter = filterOf(query);
        if (project.describe().has_board && boardStatusesOf(filter.states) === null)
          return invalidRequest('query.state', 'It must be a status of the board.');
        const { order, limit, cursor } = query;
        const after = mark.read(cursor);
        if (after !== null && after.length !== (order === 'start' ? 3 : 2))
          return invalidRequest('query.cursor', 'It must be the cursor of a page in the same order.');
        const { issues, next, total } = await listIssues(project, { filter, order, limit, after }, clock);
        return { issues: issues.map(summaryOf), next: next === null ? null : mark.write(next), total };
      },
    }),
    inProject(parts, {
      path: '/issues/:issue',
      summary:
        'Everything about an issue, by its id or identifier: its state, why it waits, and the commands that apply.',
      params,
      answer: issueDetailSchema,
      isCostly: true,
      handle: async (project, { params: { issue } }) => (await issueDetail(project, issue, clock)) ?? issueNotFound(),
    }),
    inProject(parts, {
      path: '/issues/:issue/explanation',
      summary: 'Why an issue would start now or not: each start condition and its result.',
      params: { issue: z.string().trim().min(1).max(500) },
      answer: explainedIssue,
      isCostly: true,
      handle: (project, { params: { issue } }) => explained(project, issue, clock),
    }),
    inProject(parts, {
      path: '/issues/:issue/diff',
      forAgents: 'never',
      summary: 'The changes in the workspace of an issue, compared with its base.',
      params,
      answer: diff,
      isCostly: true,
      handle: async (project, { params: { issue } }) => {
        const id = await findIssueId(project, issue);
        return id === null ? issueNotFound() : project.diff(id);
      },
    }),
  ];
}

function filterOf({ state, q, label, priority, activity }: z.output<typeof listQuery>): IssueFilter {
  const [wanted] = label === undefined ? [] : normalizeLabels([label]);
  return {
    states: state === undefined ? [] : [state].flat(),
    ...(q === undefined ? {} : { text: q }),
    ...(wanted === undefined ? {} : { label: wanted }),
    ...(priority === undefined ? {} : { priority: priority === 'none' ? null : priority }),
    ...(activity === undefined ? {} : { activity }),
  };
}
