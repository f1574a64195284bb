import { refuse } from '../refusal.ts';
import type { ApiProject, ApiProjects } from './api-project.ts';
import type { Caller } from './caller.ts';

/**
 * What an agent reaches of the API: its own project. A request that is not about one project is about all of them; an
 * agent may read it only where its own project is the only one. Everyone else reaches everything.
 */
export function agentReach(projects: Pick<ApiProjects, 'list'>) {
  const isOwn = async (project: ApiProject, runId: string): Promise<boolean> => {
    if (project.read().running.some((run) => run.runId === runId)) return true;
    return (await project.tables.runs.read(runId))?.project === project.id;
  };
  /** The projects that this caller may read. */
  const within = async ({ author, hasStore }: Caller): Promise<readonly ApiProject[]> => {
    const all = projects.list();
    if (author.kind !== 'run' || hasStore === true) return all;
    const own = await Promise.all(all.map((project) => isOwn(project, author.runId)));
    return all.filter((_, at) => own[at]);
  };
  return {
    within,
    /** Whether the caller reaches the project of this name, or all projects with `null`. */
    covers: async (caller: Caller, project: string | null): Promise<boolean> => {
      if (caller.author.kind !== 'run') return true;
      const reached = await within(caller);
      return project === null
        ? reached.length > 0 && reached.length === projects.list().length
        : reached.some(({ name }) => name === project);
    },
  };
}

export type AgentReach = ReturnType<typeof agentReach>;

/** With the code of a refused command, so that a caller need not know where it was refused. */
export function outOfReach(): Response {
  return refuse('not_for_agents', { facts: { details: { code: 'not_for_agents' } } });
}
