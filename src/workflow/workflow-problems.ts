import { BatonError } from '../core/baton-error.ts';
import { type AnyErrorCode, isCatalogued } from '../core/error-catalogue.ts';
import type { Problem, ProblemDetails } from '../core/problem.ts';
import type { WorkflowContext } from './workflow-context.ts';

/** Records a problem; reading continues, so that one pass finds all of them. */
export type Report = (problem: Problem) => void;

/** The details of a problem, and its code where it is not `invalid_workflow_config`. */
type Facts = ProblemDetails & { readonly code?: AnyErrorCode };

export function errorAt(key: string | null, message: string, facts: Facts): Problem {
  const { code = 'invalid_workflow_config', ...details } = facts;
  return { code, severity: 'error', key, message, details };
}

export function warningAt(key: string | null, message: string, facts: Facts): Problem {
  return { ...errorAt(key, message, facts), severity: 'warning' };
}

/**
 * Combines all errors of a file into one. A single error keeps its own code, so that a program can distinguish a
 * missing token from a wrong number; several become `invalid_workflow_config` and are listed in `details.problems`.
 */
export function toWorkflowError(
  path: string,
  errors: readonly Problem[],
  { trackers, backends }: Pick<WorkflowContext, 'trackers' | 'backends'>,
): BatonError {
  const code = errors.length === 1 && errors[0] !== undefined ? errors[0].code : 'invalid_workflow_config';
  const ofAdapter = [...trackers, ...backends].flatMap(({ errors: own }) => own?.[code] ?? [])[0];
  const error = isCatalogued(code) ? code : (ofAdapter ?? 'invalid_workflow_config');
  const listed = errors.slice(0, mostProblemsListed);
  const more = errors.length > listed.length ? `; and ${errors.length - listed.length} more` : '';
  const message = `${path}: ${listed.map((problem) => problem.message).join('; ')}${more}`;
  return new BatonError(error, message, { details: { path, problems: listed } });
}

/** More than a person can get wrong; a hostile file must not fill the log. */
const mostProblemsListed = 100;
const longestShown = 60;

/** A value from the file, short enough for a message. */
export function shown(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object' && value !== null) return 'a map';
  const text = typeof value === 'string' ? JSON.stringify(value) : String(value);
  return text.length > longestShown ? `${text.slice(0, longestShown)}…` : text;
}
