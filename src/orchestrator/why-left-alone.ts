import { boardStatuses } from '../core/board-status.ts';
import { allowedMoves } from '../core/board-transitions.ts';
import { stateClass } from '../core/eligibility.ts';
import { harmlessLine } from '../core/harmless-line.ts';
import { type Issue, normalizeState } from '../core/issue.ts';
import { askCommand, commentCommand, handbackCommand, moveCommand, retryCommand } from '../core/retry-command.ts';
import type { TrackerSettings } from '../core/settings.ts';
import type { OrchestratorContext } from './context.ts';
import type { FoundIssue } from './find-issue.ts';
import { type IssueName, isClaimed } from './scheduling-state.ts';

/** Baton's own board, where a person moves and comments with a command. */
const ownBoard = 'board';

/** Why nothing can be done about an issue that nobody has, and how it would be worked on again; null when it can. */
export async function whyLeftAlone(
  { state, store, project, source }: OrchestratorContext,
  { fresh }: FoundIssue,
): Promise<string | null> {
  const { tracker } = source.read().workflow.settings;
  if (fresh === null || stateClass(fresh.state, tracker) === 'active') return null;
  if (isClaimed(state, fresh.id) || (await store.claims.read({ project, issueId: fresh.id })) !== null) return null;
  const shown = `${harmlessLine(fresh.identifier)} is in "${harmlessLine(fresh.state)}", which is not an active state`;
  return `${shown}. To have it worked on again: ${wayBack(fresh, tracker)}`;
}

function wayBack({ identifier, state }: Issue, { kind, activeStates }: TrackerSettings): string {
  const from = boardStatuses.find((status) => status === normalizeState(state));
  const active = new Set(activeStates.map(normalizeState));
  const to =
    kind === ownBoard && from !== undefined ? allowedMoves(from, 'person').find((each) => active.has(each)) : null;
  if (to != null) return moveCommand(identifier, to);
  return `move it to one of ${activeStates.map((name) => `"${harmlessLine(name)}"`).join(', ')} in the tracker`;
}

/** Nobody has it, and no tracker that was asked does. */
export function noSuchIssue({ source, trackerFor }: OrchestratorContext, reference: string): string {
  const named = harmlessLine(reference);
  if (trackerFor(source.read().workflow.settings).isLocal === true) return `there is no issue ${named}`;
  return `there is no issue ${named} in an active state, and none of that name that Baton has worked on`;
}

/** Nobody is at work who could hear it: what reaches the next agent instead. */
export function nobodyHears({ state, source }: OrchestratorContext, { id, identifier }: IssueName): string {
  const code = state.held.get(id)?.code;
  const nobody = `no agent works on ${harmlessLine(identifier)} just now, and only one at work can be told`;
  if (code === 'taken_over') return `${nobody}. To tell the next one: ${handbackCommand(identifier)} --note TEXT`;
  if (code === 'agent_input_required') return `${nobody}. It waits for an answer: ${askCommand(identifier)}`;
  const { kind } = source.read().workflow.settings.tracker;
  const comment = kind === ownBoard ? ` (${commentCommand(identifier)})` : '';
  return `${nobody}. A comment on the issue reaches the next one${comment}; to have that start now: ${retryCommand(identifier)}`;
}
