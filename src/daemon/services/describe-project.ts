import type { Configuration, Project } from '../../client/schema/system.ts';
import type { BatonError } from '../../core/baton-error.ts';
import { normalizeState } from '../../core/issue/issue.ts';
import { Secret } from '../../core/text/secret.ts';
import { withoutSecrets } from '../../core/text/secret-text.ts';
import type { IssueEditor } from '../../tracker/tracker.ts';
import type { LoadedWorkflow } from '../../workflow/load-workflow.ts';

/** Describes a project, with the columns of its issues. */
export function describeProject(
  { path, settings }: LoadedWorkflow,
  editor: IssueEditor | null,
  version: string,
): Project {
  const { kind, activeStates, reviewStates, terminalStates } = settings.tracker;
  const isIn = (states: readonly string[], name: string): boolean =>
    states.some((state) => normalizeState(state) === normalizeState(name));
  const names = editor?.states ?? [...activeStates, ...reviewStates, ...terminalStates];
  return {
    name: settings.project.name,
    tracker: kind,
    has_board: editor !== null,
    states: [...new Set(names)].map((name) => ({
      name,
      kind: isIn(activeStates, name) ? 'active' : isIn(terminalStates, name) ? 'terminal' : 'other',
    })),
    workflow_path: path,
    version,
  };
}

/** What `baton validate` reports of the settings in force, and what is wrong with the current file. */
export function configurationReport(
  { path, revision, described, warnings }: Pick<LoadedWorkflow, 'path' | 'revision' | 'described' | 'warnings'>,
  problem: BatonError | null,
): Configuration {
  return {
    path,
    revision,
    settings: described.map(({ key, value, origin }) => ({ key, value: shown(value), origin })),
    problem: problem === null ? null : { code: problem.code, text: problem.message },
    warnings: warnings.map(({ code, message }) => ({ code, text: message })),
  };
}

/** The value for JSON. Secrets are hidden at any depth, also those written into a text. */
function shown(value: unknown): unknown {
  if (typeof value === 'string') return withoutSecrets(value);
  if (value instanceof Secret) return value.toJSON();
  if (Array.isArray(value)) return value.map(shown);
  if (typeof value !== 'object' || value === null) return value ?? null;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, shown(each)]));
}
