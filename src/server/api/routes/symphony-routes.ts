import * as z from 'zod';
import { symphonyIssue, symphonyNoState, symphonyRefresh, symphonyState } from '../../../client/schema/symphony.ts';
import type { Clock } from '../../../clock/clock.ts';
import { timeText } from '../../../core/text/time-text.ts';
import type { ReadModel } from '../../../orchestrator/view/read-model.ts';
import { refuse } from '../../refusal.ts';
import { symphonyTexts } from '../../symphony-fixed-texts.ts';
import type { ApiProject, ApiProjects } from '../api-project.ts';
import { issueNotFound, unavailable } from '../api-refusal.ts';
import {
  type LastRun,
  presentIssue,
  presentState,
  retriesOf,
  type SymphonyFacts,
} from '../present/present-symphony.ts';
import { type Route, route } from '../route.ts';

/** Words below `/api/v1/` that never name an issue; `/projects/P/issues/ID` reaches an issue with such a name. */
const reservedWords: ReadonlySet<string> = new Set(['state', 'refresh', 'events', 'projects', 'openapi.json']);

const unavailableSnapshot = { code: 'snapshot_unavailable', message: symphonyTexts.snapshotUnavailable } as const;

/** The three addresses of Symphony's API, for all projects of this Baton. */
export function symphonyRoutes({
  projects,
  clock,
}: {
  readonly projects: ApiProjects;
  readonly clock: Clock;
}): Route[] {
  const models = (): Promise<SymphonyFacts[]> =>
    Promise.all(
      projects.list().map(async (project) => {
        const model = project.read();
        return { project: project.name, ...model, lastRuns: await lastRunsOf(project, model) };
      }),
    );
  return [
    route({
      method: 'GET',
      path: '/api/v1/state',
      summary: "The running, retrying and held issues, in the format of Symphony's API.",
      answer: z.union([symphonyState, symphonyNoState]),
      handle: async () => {
        const generated_at = timeText(clock.now());
        if (projects.list().length === 0) return { generated_at, error: unavailableSnapshot };
        return presentState(await models(), clock.now());
      },
    }),
    route({
      method: 'POST',
      path: '/api/v1/refresh',
      // It changes no state, but it spends requests to the trackers.
      scope: 'operate',
      summary: 'Polls the trackers as soon as possible.',
      status: 202,
      answer: symphonyRefresh,
      handle: () => {
        if (projects.list().length === 0) return unavailable();
        const asked = projects.list().map((project) => project.poll().isCoalesced);
        return {
          queued: true as const,
          coalesced: asked.length > 0 && asked.every(Boolean),
          requested_at: timeText(clock.now()),
          operations: ['poll', 'reconcile'] as ['poll', 'reconcile'],
        };
      },
    }),
    route({
      method: 'GET',
      path: '/api/v1/:issue_identifier',
      summary: "One running, retrying or held issue, in the format of Symphony's API.",
      params: z.object({ issue_identifier: z.string() }),
      answer: symphonyIssue,
      handle: async ({ params: { issue_identifier: identifier } }) => {
        if (reservedWords.has(identifier)) return refuse('method_not_allowed');
        for (const model of await models()) {
          const found = presentIssue(model, identifier);
          if (found !== null) return found;
        }
        return issueNotFound();
      },
    }),
  ];
}

/** For how many issues the last event is read. */
const mostRead = 100;

/** A waiting issue has no run now; the workspace and the last event of its last run come from the store. */
async function lastRunsOf({ tables, id }: ApiProject, model: ReadModel): Promise<SymphonyFacts['lastRuns']> {
  const waiting = [...model.held, ...retriesOf(model)].map(({ issue }) => issue.id);
  if (waiting.length === 0) return new Map();
  const runs = await tables.runs.latestOfIssues(id, waiting);
  const found = new Map<string, LastRun>();
  for (const [at, { issueId, runId, workspace, threadId, turns: turn, lastMessage }] of runs.entries()) {
    const [last] = at < mostRead ? await tables.runEvents.named(runId, agentEvents, { from: 'last', limit: 1 }) : [];
    const lastEvent = last === undefined ? null : { ...last, summary: lastMessage ?? last.summary };
    found.set(issueId, { workspace, threadId, turn, lastEvent });
  }
  return found;
}

/** The events of the agent itself, without those of Baton and of people. */
const agentEvents: readonly string[] = [
  ...['turn_completed', 'turn_failed', 'turn_cancelled', 'turn_ended_with_error', 'turn_input_required'],
  ...['approval_required', 'tool_call_completed', 'tool_call_failed', 'notification', 'other_message'],
];
