import { normalizeState } from '../../core/issue/issue.ts';
import type { Project } from '../../server/api/schema/system.ts';
import type { IssueDesk } from '../../tracker/tracker.ts';
import type { LoadedWorkflow } from '../../workflow/load-workflow.ts';

/** What a project is, with the columns that its issues are shown in. */
export function describeProject({ path, settings }: LoadedWorkflow, desk: IssueDesk | null, version: string): Project {
  const { kind, activeStates, reviewStates, terminalStates } = settings.tracker;
  const isIn = (states: readonly string[], name: string): boolean =>
    states.some((state) => normalizeState(state) === normalizeState(name));
  const names = desk?.states ?? [...activeStates, ...reviewStates, ...terminalStates];
  return {
    name: settings.project.name,
    tracker: kind,
    has_board: desk !== null,
    states: [...new Set(names)].map((name) => ({
      name,
      kind: isIn(activeStates, name) ? 'active' : isIn(terminalStates, name) ? 'terminal' : 'other',
    })),
    workflow_path: path,
    version,
  };
}
