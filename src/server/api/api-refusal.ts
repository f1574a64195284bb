import { type BatonError, toBatonError } from '../../core/baton-error.ts';
import type { AnyErrorCode } from '../../core/error-catalogue.ts';
import { symphonyTexts } from '../symphony-fixed-texts.ts';

/** Which answer an error of the house is; what is not named here is a failure of ours. */
const statuses: Readonly<Partial<Record<AnyErrorCode, number>>> = {
  command_refused: 409,
  tracker_issue_not_found: 404,
  run_not_found: 404,
  question_not_found: 404,
  tracker_request: 502,
  tracker_status: 502,
  tracker_response: 502,
  tracker_pagination: 502,
  tracker_rate_limited: 502,
  tracker_auth: 502,
  usage_error: 400,
  store_busy: 503,
  store_unavailable: 503,
};

/** Null: it is no error for a visitor, and its words are for the log. */
function statusOf(error: BatonError): number | null {
  return statuses[error.code] ?? null;
}

/** An error that a visitor is told, with its next step. */
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

/** What is said in Symphony's words. */
export function issueNotFound(): Response {
  return Response.json({ error: { code: 'issue_not_found', message: symphonyTexts.issueNotFound } }, { status: 404 });
}

export function unavailable(): Response {
  const error = { code: 'orchestrator_unavailable', message: symphonyTexts.orchestratorUnavailable };
  return Response.json({ error }, { status: 503 });
}

/** A page that was open before would take everything for gone. */
export function starting(): Response {
  const error = { code: 'starting', message: 'Baton is starting; its projects are not all there yet.' };
  return Response.json({ error }, { status: 503, headers: { 'cache-control': 'no-store', 'retry-after': '1' } });
}

/** Where somebody asks for a project that is not there. */
export function noProject({ isStarting }: { readonly isStarting: boolean }): Response {
  return isStarting ? starting() : projectNotFound();
}

function projectNotFound(): Response {
  const message = 'There is no such project in this Baton; `GET /api/v1/projects` lists them.';
  return Response.json({ error: { code: 'project_not_found', message } }, { status: 404 });
}
