import { BatonError } from '../core/baton-error.ts';
import type { CommandAnswer } from '../core/command.ts';
import { handbackCommand, survivesReason } from '../core/retry-command.ts';
import type { Command } from '../store/commands.ts';
import type { OrchestratorContext } from './context.ts';
import { howItStands, lastChange } from './done-before.ts';
import { holdAfterRun, holdIssue, lookInsteadOfHold } from './hold-issue.ts';
import type { IssueName } from './scheduling-state.ts';
import { stopRun } from './stop-run.ts';

/** What an issue is held for while a person goes on with it by hand. */
const takenOver = 'taken_over';

/**
 * A person goes on with an issue by hand: its agent is ended, and its claim is kept, so that nobody else starts on it. The
 * workspace and the agent's own conversation stay as they are.
 */
export async function takeOverByHand(
  context: OrchestratorContext,
  issue: IssueName,
  why: string | null,
): Promise<CommandAnswer> {
  const { state, clock } = context;
  const { identifier } = issue;
  const by = why === null ? '' : ` (${why})`;
  const hold = {
    code: takenOver,
    reason: `A person works on it by hand${by}. To give it back: ${handbackCommand(identifier)}`,
  };
  // Beside an agent that may be alive nobody works by hand.
  if (state.held.get(issue.id)?.code === 'agent_survives')
    return refused(survivesReason(`an agent of ${identifier} may still be alive.`, identifier));
  if (state.held.get(issue.id)?.code === takenOver) return done(`${identifier} is in your hands already`);
  const running = state.running.get(issue.id);
  if (running === undefined) {
    await holdIssue(context, { ...hold, issue, since: clock.now(), runId: state.held.get(issue.id)?.runId ?? null });
    return done(`${identifier} is in your hands; no agent works on it`);
  }
  await holdAfterRun(context, running, hold);
  stopRun(context, running, 'taken_over');
  return done(`the run of ${identifier} is being ended; then it is in your hands`);
}

/** A command, and what was begun of it before the daemon ended that was carrying it out. */
type CommandOnce = Pick<Command, 'id' | 'begun'>;

/** The person is done: an agent goes on from what is there now. */
export async function handBack(
  context: OrchestratorContext,
  issue: IssueName,
  { id, begun, note }: CommandOnce & { readonly note: string | null },
): Promise<CommandAnswer> {
  const { state } = context;
  const running = state.running.get(issue.id);
  if (running?.holdAfterwards?.code === takenOver)
    return refused(`the run of ${issue.identifier} is still being ended`);
  if (state.held.get(issue.id)?.code !== takenOver) {
    const stored = (await context.store.held.list(context.project)).find(({ issueId }) => issueId === issue.id);
    // Of a daemon that is gone, and not taken over yet: a moment later it is ours.
    if (stored?.code === takenOver) throw new BatonError('claim_lost', `${issue.identifier} is being taken over.`);
    const before = await lastChange(context, issue);
    const by = before?.kind === 'issue_handback' ? before.by : '';
    if (begun !== null || by !== '')
      return done(`${issue.identifier} was given back already${by}: ${howItStands(context, issue)}`);
    return refused(`${issue.identifier} is in nobody's hands`);
  }
  await context.store.commands.begin(id, 'it is given back');
  await lookInsteadOfHold(context, issue.id, { kind: 'handed_back', note });
  return done(`${issue.identifier} is given back; an agent goes on with it`);
}

/**
 * Says something to the agent at work, once: that it is about to be said is written down before. After a crash in between
 * nobody knows whether the agent heard it, and who asked is told that, rather than the agent the same again.
 */
export async function steerRun(
  { state, store }: OrchestratorContext,
  issue: IssueName,
  { id, begun, text }: CommandOnce & { readonly text: string | null },
): Promise<CommandAnswer> {
  const { identifier } = issue;
  if (text === null) return refused('the command says nothing');
  if (begun !== null)
    return done(
      `it was being said to ${identifier} when the daemon ended, and is not said twice; say it anew if it was not heard`,
    );
  const running = state.running.get(issue.id);
  if (running === undefined) return refused(`${identifier} is not running`);
  if (running.stopRequested !== null) return refused(`the run of ${identifier} is being ended`);
  if (!(await store.commands.begin(id, running.runId))) return done(`the agent of ${identifier} was told`);
  try {
    if (state.running.get(issue.id) !== running) throw new BatonError('command_refused', 'its run has just ended');
    const how = await running.run.steer(text);
    return done(
      how === 'told' ? `the agent of ${identifier} is told` : `the agent of ${identifier} is told at its next turn`,
    );
  } catch (thrown) {
    // It was not said.
    await store.commands.begin(id, null);
    throw thrown;
  }
}

function done(text: string): CommandAnswer {
  return { status: 'done', text };
}

function refused(text: string): CommandAnswer {
  return { status: 'refused', text };
}
