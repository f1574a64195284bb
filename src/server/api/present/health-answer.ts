import type { ApiProjects } from '../api-project.ts';
import { problemsOf } from './needs-you.ts';

/** Whether Baton can do its work: 503 with the reasons while it cannot. */
export function readiness(projects: ApiProjects): Response {
  const all = projects.list();
  const problems = all.flatMap((project) =>
    problemsOf(project.read()).map(({ code }) => ({ project: project.name, code })),
  );
  const isReady = all.length > 0 && problems.length === 0;
  // Codes only: whoever asks this may be anybody, and texts name files and tickets.
  return Response.json(
    { status: isReady ? 'ready' : 'not_ready', projects: all.length, problems },
    { status: isReady ? 200 : 503, headers: { 'cache-control': 'no-store' } },
  );
}
