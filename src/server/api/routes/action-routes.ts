import * as z from 'zod';
import { boardImport, importedIssues } from '../../../client/schema/board.ts';
import { commandAnswer, commandForAll, commandRequest, commandsOfAll } from '../../../client/schema/command.ts';
import { storeChange, storeChangeAnswer } from '../../../client/schema/status.ts';
import type { Command } from '../../../store/tables/commands.ts';
import { outOfReach } from '../agent-reach.ts';
import type { ApiProject, ApiProjects } from '../api-project.ts';
import { noProject } from '../api-refusal.ts';
import { boardCommands } from '../present/issue-history.ts';
import { presentCommand } from '../present/present-command.ts';
import { type Route, route } from '../route.ts';
import type { EventStream } from '../stream/event-stream.ts';
import { findIssue } from './find-issue.ts';

export interface ActionParts {
  readonly projects: ApiProjects;
  /** Publishes which issue was changed. */
  readonly stream: Pick<EventStream, 'issueChanged'>;
}

/**
 * The routes that change something. Commands have one address, as there is one queue behind it: a command is stored with
 * its author, carried out once and in order, and answered. Sending it again with the same key returns the same command.
 * Only a file of issues does not go through the queue, because it is too large.
 */
export function actionRoutes({ projects, stream }: ActionParts): Route[] {
  return [
    route({
      method: 'POST',
      path: '/api/v1/projects/:project/commands',
      scope: 'operate',
      summary: 'Sends a command and returns its answer.',
      params: z.object({ project: z.string() }),
      body: commandRequest,
      answer: commandAnswer,
      handle: async ({ params, body, caller }) => {
        const project = projects.find(params.project);
        if (project === null) return noProject(projects);
        const { command, facts } = await project.submit(body, caller.author);
        await publishIssue(stream, project, command);
        return { command: presentCommand(command, facts) };
      },
    }),
    route({
      method: 'POST',
      path: '/api/v1/projects/:project/store-changes',
      scope: 'operate',
      summary:
        'Says that another program wrote to the store or restored a backup into it, so that the daemon reads it again.',
      params: z.object({ project: z.string() }),
      body: storeChange,
      answer: storeChangeAnswer,
      handle: ({ params, body, caller }) => {
        const project = projects.find(params.project);
        if (project === null) return noProject(projects);
        if (caller.author.kind === 'run' && body.change !== 'written') return outOfReach();
        project.storeChanged(body.change);
        return { accepted: true };
      },
    }),
    route({
      method: 'POST',
      path: '/api/v1/projects/:project/board/import',
      scope: 'operate',
      summary: 'Creates all issues of a file, or none. Issues that were imported before stay as they are.',
      params: z.object({ project: z.string() }),
      body: boardImport,
      answer: importedIssues,
      handle: ({ params, body, caller }) => {
        const project = projects.find(params.project);
        return project === null ? noProject(projects) : project.board().import(body, caller.author);
      },
    }),
    route({
      method: 'POST',
      path: '/api/v1/commands',
      scope: 'operate',
      summary: 'Sends one command to all projects: pause, resume or drain.',
      body: commandForAll,
      answer: commandsOfAll,
      handle: async ({ body, caller }) => ({
        commands: await Promise.all(
          projects.list().map(async (project) => {
            const { command, facts } = await project.submit(body, caller.author);
            return { project: project.name, ...presentCommand(command, facts) };
          }),
        ),
      }),
    }),
  ];
}

/** No row may show a change of an issue, so this asks listeners to read the issue again. */
async function publishIssue(
  stream: ActionParts['stream'],
  project: ApiProject,
  { kind, payload, result }: Command,
): Promise<void> {
  const name = payload.issue;
  if (result?.status !== 'done' || typeof name !== 'string' || boardCommands.has(kind)) return;
  const found = await findIssue(project, name, project.read(), nothingKnown);
  if (found !== null) stream.issueChanged(project.name, found.facts);
}

const nothingKnown = { of: () => ({ activity: null, skipped: null }), ids: [] };
