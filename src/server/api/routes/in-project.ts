import { z } from 'zod';
import type { Clock } from '../../../clock/clock.ts';
import { refuse } from '../../refusal.ts';
import type { ApiProject, ApiProjects } from '../api-project.ts';
import { noProject } from '../api-refusal.ts';
import { type Route, route } from '../route.ts';

/** What routes that read are made with. */
export interface ReadParts {
  readonly projects: ApiProjects;
  readonly clock: Clock;
}

interface ProjectRoute<P extends z.ZodRawShape, Q extends z.ZodObject, A extends z.ZodType> {
  /** Below the project, such as `/runs/:run`. */
  readonly path: string;
  readonly summary: string;
  /** What is in the path beside the project. */
  readonly params?: P;
  readonly query?: Q;
  readonly answer: A;
  /** Whether it takes long, or gives much; with a query that may be so or not. */
  readonly isCostly?: boolean | ((query: z.output<Q>) => boolean);
  handle(
    project: ApiProject,
    asked: { readonly params: z.output<z.ZodObject<P>>; readonly query: z.output<Q>; readonly signal: AbortSignal },
  ): z.input<A> | Response | Promise<z.input<A> | Response>;
}

/** A `GET` below a project. Of a project that is not there nothing is asked: that is 404. */
export function inProject<P extends z.ZodRawShape, Q extends z.ZodObject, A extends z.ZodType>(
  { projects }: ReadParts,
  { path, summary, params, query, answer, isCostly = false, handle }: ProjectRoute<P, Q, A>,
): Route {
  return route({
    method: 'GET',
    path: `/api/v1/projects/:project${path}`,
    summary,
    params: z.object({ project: z.string(), ...params }),
    ...(query === undefined ? {} : { query }),
    answer,
    // Read by the schema of this route, too.
    isCostly: (asked) => (typeof isCostly === 'boolean' ? isCostly : isCostly(asked.query as unknown as z.output<Q>)),
    handle: (asked) => {
      const project = projects.find(asked.params.project);
      if (project === null) return noProject(projects);
      // Read by the schemas of this route, which the types of the one around it do not tell any more.
      const { params: read, query: wanted, signal } = asked as unknown as Parameters<typeof handle>[1];
      return handle(project, { params: read, query: wanted, signal });
    },
  });
}

/** What was asked does not fit what is there, though its form does. */
export function unfit(at: string, problem: string): Response {
  return refuse('invalid_request', { facts: { problems: [{ at, problem }] } });
}
