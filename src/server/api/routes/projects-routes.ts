import { now } from '../../../client/schema/now.ts';
import { status } from '../../../client/schema/status.ts';
import { projectList, queue } from '../../../client/schema/system.ts';
import { agentReach, outOfReach } from '../agent-reach.ts';
import { presentNow } from '../present/present-now.ts';
import { presentQueue } from '../present/present-queue.ts';
import { presentStatus } from '../present/present-status.ts';
import { type Route, route } from '../route.ts';
import { inProject, type ReadParts } from './in-project.ts';

/** Waiting commands are counted up to this number. */
const mostCounted = 100;

/** The projects of this Baton, and the current state of one. */
export function projectsRoutes(parts: ReadParts): Route[] {
  return [
    route({
      method: 'GET',
      path: '/api/v1/projects',
      summary: 'The projects of this Baton.',
      answer: projectList,
      forAgents: 'filtered',
      handle: async ({ caller }) => {
        const reached = await agentReach(parts.projects).within(caller);
        if (reached.length === 0 && caller.author.kind === 'run') return outOfReach();
        return { projects: reached.map((project) => project.describe()) };
      },
    }),
    inProject(parts, {
      path: '',
      summary: 'The current state of a project, as the screen Now shows it.',
      answer: now,
      handle: (project) => presentNow(project.name, project.read()),
    }),
    inProject(parts, {
      path: '/status',
      summary: 'The complete current state of a project, for programs.',
      answer: status,
      handle: async (project) => {
        const waiting = await project.tables.commands.waiting(project.id, mostCounted);
        return presentStatus(project.read(), { api: project.dashboardUrl, waitingCommands: waiting.length });
      },
    }),
    inProject(parts, {
      path: '/queue',
      summary: 'All candidates that have not started, in start order, each with the reason why it waits.',
      answer: queue,
      handle: (project) => presentQueue(project.read()),
    }),
  ];
}
