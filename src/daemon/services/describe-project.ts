import { boardStatuses } from '../../core/issue/board-status.ts';
import { normalizeState } from '../../core/issue/issue.ts';
import type { Project } from '../../server/api/schema/system.ts';
import type { LoadedWorkflow } from '../../workflow/load-workflow.ts';

/** What a project is, with the columns that its issues are shown in. */
export function describeProject({ path, settings }: LoadedWorkflow, version: string): Project {
  const { kind, activeStates, reviewStates, terminalStates } = settings.tracker;
  const hasBoard = kind === 'board';
  const isIn = (states: readonly string[], name: string): boolean =>
    states.some((state) => normalizeState(state) === normalizeState(name));
  const names = hasBoard ? [...boardStatuses] : [...activeStates, ...reviewStates, ...terminalStates];
  return {
    name: settings.project.name,
    tracker: kind,
    has_board: hasBoard,
    states: [...new Set(names)].map((name) => ({
      name,
      kind: isIn(activeStates, name) ? 'active' : isIn(terminalStates, name) ? 'terminal' : 'other',
    })),
    workflow_path: path,
    version,
  };
}
