import * as z from 'zod';
import type { Clock } from '../../../clock/clock.ts';
import { refuse } from '../../refusal.ts';
import type { ApiProject, ApiProjects } from '../api-project.ts';
import { noProject } from '../api-refusal.ts';
import { type Route, route } from '../route.ts';

/** What the read routes need. */
export interface ReadParts {
  readonly projects: ApiProjects;
  readonly clock: Clock;
}

interface ProjectRoute<P extends z.ZodRawShape, Q extends z.ZodObject, A extends z.ZodType> {
  /** The path below the project, such as `/runs/:run`. */
  readonly path: string;
  readonly summary: string;
  /** The parameters in the path next to the project. */
  readonly params?: P;
  readonly query?: Q;
  readonly answer: A;
  readonly forAgents?: Route['forAgents'];
  /** Whether it takes long or returns much; this may depend on the query. */
  readonly isCostly?: boolean | ((query: z.output<Q>) => boolean);
  handle(
    project: ApiProject,
    asked: { readonly params: z.output<z.ZodObject<P>>; readonly query: z.output<Q>; readonly signal: AbortSignal },
  ): z.input<A> | Response | Promise<z.input<A> | Response>;
}

/** A `GET` below a project; 404 when the project is not there. */
export function inProject<P extends z.ZodRawShape, Q extends z.ZodObject, A extends z.ZodType>(
  { projects }: ReadParts,
  { path, summary, forAgents, params, query, answer, isCostly = false, handle }: ProjectRoute<P, Q, A>,
): Route {
  return route({
    method: 'GET',
    path: `/api/v1/projects/:project${path}`,
    summary,
    ...(forAgents === undefined ? {} : { forAgents }),
    params: z.object({ project: z.string(), ...params }),
    ...(query === undefined ? {} : { query }),
    answer,
    // The schema of this route has parsed it.
    isCostly: (asked) => (typeof isCostly === 'boolean' ? isCostly : isCostly(asked.query as unknown as z.output<Q>)),
    handle: (asked) => {
      const project = projects.find(asked.params.project);
      if (project === null) return noProject(projects);
      // The schemas of this route have parsed it, but the types of the outer route no longer show that.
      const { params: read, query: wanted, signal } = asked as unknown as Parameters<typeof handle>[1];
      return handle(project, { params: read, query: wanted, signal });
    },
  });
}

/** The request is well-formed, but does not fit the project. */
export function invalidRequest(at: string, problem: string): Response {
  return refuse('invalid_request', { facts: { problems: [{ at, problem }] } });
}
