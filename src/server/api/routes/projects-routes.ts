import { presentNow } from '../present/present-now.ts';
import { type Route, route } from '../route.ts';
import { now } from '../schema/now.ts';
import { projectList } from '../schema/system.ts';
import { inProject, type ReadParts } from './in-project.ts';

/** The projects of this Baton, and what is going on in one. */
export function projectsRoutes(parts: ReadParts): Route[] {
  return [
    route({
      method: 'GET',
      path: '/api/v1/projects',
      summary: 'The projects of this Baton.',
      answer: projectList,
      handle: () => ({ projects: parts.projects.list().map((project) => project.describe()) }),
    }),
    inProject(parts, {
      path: '',
      summary: 'What is going on in a project at this instant.',
      answer: now,
      handle: (project) => presentNow(project.name, project.read()),
    }),
  ];
}
