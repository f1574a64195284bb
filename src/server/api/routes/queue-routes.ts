import { queue } from '../../../client/schema/system.ts';
import { presentQueue } from '../present/present-queue.ts';
import type { Route } from '../route.ts';
import { inProject, type ReadParts } from './in-project.ts';

export function queueRoutes(parts: ReadParts): Route[] {
  return [
    inProject(parts, {
      path: '/queue',
      summary: 'Every candidate that has not started, in the order of starts, with the reason it waits.',
      answer: queue,
      handle: (project) => presentQueue(project.read()),
    }),
  ];
}
