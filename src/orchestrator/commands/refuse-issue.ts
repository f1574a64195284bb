import type { CommandKind } from '../../core/command/command.ts';
import { type CommandAnswer, refused } from '../../core/command/command-answers.ts';
import {
  askCommand,
  commentCommand,
  handbackCommand,
  moveCommand,
  retryCommand,
} from '../../core/command/retry-command.ts';
import { stateClass } from '../../core/dispatch/eligibility.ts';
import { type Issue, normalizeState } from '../../core/issue/issue.ts';
import { endsHold } from '../../core/run/reconcile-decision.ts';
import type { TrackerSettings } from '../../core/settings.ts';
import { harmlessLine } from '../../core/text/harmless-line.ts';
import type { IssueEditor } from '../../tracker/tracker.ts';
import type { IssueName } from '../claims/claim.ts';
import type { Judges } from '../review/judges.ts';
import type { FindIssueParts, FoundIssue } from './find-issue.ts';

export interface NotActiveParts extends FindIssueParts {
  readonly judges: Pick<Judges, 'roleOf'>;
}

/** The refusal of a command about an issue that no agent will work on, with the way back; null when one may. */
export async function whyNotActive(
  parts: NotActiveParts,
  { issue, fresh }: FoundIssue,
  kind: CommandKind,
): Promise<CommandAnswer | null> {
  const { claims, store, project, reads } = parts;
  const code = kind === 'issue_retry' ? claims.held.get(issue.id)?.code : undefined;
  // Such a hold outlasts a move to review. A retry there would end the hold and start nothing. A retry of an agent that may
  // be alive also says that it is gone.
  if (code !== undefined && code !== 'agent_survives' && !endsHold(code, 'inactive_state')) {
    const read = (await reads.byIds([issue.id], caller)).get(issue.id) ?? null;
    return read === null || parts.judges.roleOf(read) === 'judge' ? null : unlessActive(parts, read, code);
  }
  if (fresh === null || claims.has(fresh.id)) return null;
  return (await store.claims.read({ project, issueId: fresh.id })) === null ? unlessActive(parts, fresh) : null;
}

const caller = { job: 'commands', cause: 'person' } as const;

/** `holdCode`: of the hold that it keeps. */
function unlessActive(
  { source, trackerFor }: FindIssueParts,
  fresh: Issue,
  holdCode: string | null = null,
): CommandAnswer | null {
  const { settings } = source.read().workflow;
  const { tracker } = settings;
  if (stateClass(fresh.state, tracker) === 'active') return null;
  const shown = `${harmlessLine(fresh.identifier)} is in "${harmlessLine(fresh.state)}", which is not an active state`;
  const way = wayBack(fresh, tracker, trackerFor(settings).editor);
  // The move itself ends the hold of a closed pull request.
  const isStillHeld = holdCode !== null && holdCode !== 'pull_closed';
  const then = isStillHeld ? `, then ${retryCommand(fresh.identifier)}. The hold stays until then` : '';
  return refused('issue_not_active', `${shown}. To let agents work on it again: ${way.text}${then}`, {
    state: fresh.state,
    move_to: way.states,
    hold_code: holdCode,
  });
}

function wayBack(
  { identifier, state }: Issue,
  { activeStates }: TrackerSettings,
  editor: IssueEditor | undefined,
): { readonly text: string; readonly states: readonly string[] } {
  const active = new Set(activeStates.map(normalizeState));
  const move = editor?.movesFrom(state).find(({ to, whyNot }) => whyNot === null && active.has(normalizeState(to)));
  if (move !== undefined) return { text: moveCommand(identifier, move.to), states: [move.to] };
  const names = activeStates.map((name) => `"${harmlessLine(name)}"`).join(', ');
  return { text: `move it to ${names} in the tracker`, states: activeStates };
}

/** The refusal where neither Baton nor the tracker has the issue. */
export function noSuchIssue({ source, trackerFor }: FindIssueParts, reference: string): CommandAnswer {
  const named = harmlessLine(reference);
  if (trackerFor(source.read().workflow.settings).isLocal === true)
    return refused('issue_not_found', `There is no issue ${named}.`);
  const text = `There is no issue ${named} in an active state, and Baton has never worked on an issue of that name.`;
  return refused('active_issue_not_found', text);
}

/** The refusal of a message when no agent is running. It says how to reach the next agent. */
export function noAgentToSteer(
  { claims, source, trackerFor }: FindIssueParts,
  { id, identifier }: IssueName,
): CommandAnswer {
  const code = claims.held.get(id)?.code ?? null;
  const answer = (instead: string): CommandAnswer =>
    refused(
      'not_running',
      `No agent is working on ${harmlessLine(identifier)}, so the message was not sent. ${instead}`,
      {
        hold_code: code,
      },
    );
  if (code === 'taken_over')
    return answer(`To leave a note for the next agent: ${handbackCommand(identifier)} --note TEXT`);
  if (code === 'agent_input_required') return answer(`The issue waits for an answer: ${askCommand(identifier)}`);
  const { editor } = trackerFor(source.read().workflow.settings);
  const comment = editor === undefined ? '' : ` (${commentCommand(identifier)})`;
  return answer(`The next agent reads a comment on the issue${comment}; to start it now: ${retryCommand(identifier)}`);
}
