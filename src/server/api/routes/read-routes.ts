import type { Route } from '../route.ts';
import { boardRoutes } from './board-routes.ts';
import { commandsRoutes } from './commands-routes.ts';
import type { ReadParts } from './in-project.ts';
import { issuesRoutes } from './issues-routes.ts';
import { learningsRoutes } from './learnings-routes.ts';
import { pipelineRoutes } from './pipeline-routes.ts';
import { projectsRoutes } from './projects-routes.ts';
import { promptsRoutes } from './prompts-routes.ts';
import { pullsRoutes } from './pulls-routes.ts';
import { questionsRoutes } from './questions-routes.ts';
import { runsRoutes } from './runs-routes.ts';
import { searchRoutes } from './search-routes.ts';
import { systemRoutes } from './system-routes.ts';
import { tasksRoutes } from './tasks-routes.ts';
import { usageRoutes } from './usage-routes.ts';

/** Every route that only reads. */
export function readRoutes(parts: ReadParts): Route[] {
  return [
    ...projectsRoutes(parts),
    ...issuesRoutes(parts),
    ...pipelineRoutes(parts),
    ...tasksRoutes(parts),
    ...learningsRoutes(parts),
    ...boardRoutes(parts),
    ...runsRoutes(parts),
    ...pullsRoutes(parts),
    ...questionsRoutes(parts),
    ...commandsRoutes(parts),
    ...systemRoutes(parts),
    ...usageRoutes(parts),
    ...promptsRoutes(parts),
    ...searchRoutes(parts),
  ];
}
