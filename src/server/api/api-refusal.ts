import { type BatonError, toBatonError } from '../../core/baton-error.ts';
import { symphonyTexts } from '../symphony-fixed-texts.ts';

/** The HTTP status of each error that callers may see; any other error is an internal failure. */
const statuses: Readonly<Record<string, number>> = {
  command_refused: 409,
  tracker_issue_not_found: 404,
  run_not_found: 404,
  pull_not_found: 404,
  prompt_not_found: 404,
  artifact_not_found: 404,
  task_not_found: 404,
  question_not_found: 404,
  tracker_request: 502,
  tracker_status: 502,
  tracker_response: 502,
  tracker_pagination: 502,
  tracker_rate_limited: 502,
  tracker_auth: 502,
  tracker_not_board: 409,
  board_import_invalid: 422,
  usage_error: 400,
  store_busy: 503,
  store_unavailable: 503,
};

/** Null: the error is not for callers, and its message belongs in the log. */
function statusOf(error: BatonError): number | null {
  return statuses[error.code] ?? null;
}

/** The response for an error that callers may see, with its next step; null for any other error. */
export function apiRefusal(thrown: unknown): Response | null {
  const error = toBatonError(thrown);
  const status = statusOf(error);
  if (status === null) return null;
  const { code, message, nextStep: next_step, details } = error;
  return Response.json(
    { error: { code, message, next_step, details } },
    { status, headers: { 'cache-control': 'no-store' } },
  );
}

/** With the text of Symphony's API. */
export function issueNotFound(): Response {
  return Response.json({ error: { code: 'issue_not_found', message: symphonyTexts.issueNotFound } }, { status: 404 });
}

export function unavailable(): Response {
  const error = { code: 'orchestrator_unavailable', message: symphonyTexts.orchestratorUnavailable };
  return Response.json({ error }, { status: 503 });
}

/** Without this response, a page that was open before the restart would take every project for removed. */
export function starting(): Response {
  const error = { code: 'starting', message: 'Baton is starting; some of its projects are not ready yet.' };
  return Response.json({ error }, { status: 503, headers: { 'cache-control': 'no-store', 'retry-after': '1' } });
}

/** The response when a requested project does not exist, or has not started yet. */
export function noProject({ isStarting }: { readonly isStarting: boolean }): Response {
  return isStarting ? starting() : projectNotFound();
}

function projectNotFound(): Response {
  const message = 'This Baton has no project of that name; `GET /api/v1/projects` lists its projects.';
  return Response.json({ error: { code: 'project_not_found', message } }, { status: 404 });
}
