import type { Clock } from '../../clock/clock.ts';
import { BatonError, toBatonError } from '../../core/baton-error.ts';
import { type CommandAnswer, done, refused } from '../../core/command/command-answers.ts';
import { handbackCommand, survivesReason } from '../../core/command/retry-command.ts';
import type { Command } from '../../store/tables/commands.ts';
import type { IssueName } from '../claims/claim.ts';
import type { Runs } from '../runs/runs.ts';
import { type HoldParts, retryHeld } from './hold.ts';
import { claimText, lastChange } from './last-change.ts';

export interface HandOverParts extends HoldParts {
  readonly runs: Runs;
  readonly clock: Clock;
}

/** The hold code of an issue that a person works on by hand. */
const takenOver = 'taken_over';

/**
 * A person takes over an issue: its agent is ended, and its claim stays, so that no agent starts on it. The workspace
 * and the agent's conversation stay as they are.
 */
export async function takeOverByHand(
  { claims, clock, runs }: HandOverParts,
  issue: IssueName,
  why: string | null,
): Promise<CommandAnswer> {
  const { id, identifier } = issue;
  const by = why === null ? '' : ` (${why})`;
  const hold = {
    code: takenOver,
    reason: `A person works on it by hand${by}. To hand it back: ${handbackCommand(identifier)}`,
  };
  // A person must not work in a workspace where an agent may be alive.
  const held = claims.held.get(id);
  if (held?.code === 'agent_survives')
    return refused('agent_survives', survivesReason(`An agent of ${identifier} may still be alive.`, identifier));
  if (held?.code === takenOver) return done('already_taken_over', `${identifier} is already taken over.`);
  const running = claims.running.get(id);
  const runId = running?.runId ?? held?.runId ?? null;
  const answer = await claims.hold({ ...hold, issue, since: clock.now(), runId });
  if (running === undefined || answer === 'held')
    return done('taken_over', `${identifier} is taken over; no agent works on it.`);
  runs.stop(running, 'taken_over');
  return done('taking_over_after_run', `Stopping the run of ${identifier}; then the issue is taken over.`);
}

/** A command, with the step that a previous daemon may have begun before it ended. */
type CommandOnce = Pick<Command, 'id' | 'begun'>;

/** The person hands the issue back: an agent continues from the current workspace. */
export async function handBack(
  parts: HandOverParts,
  issue: IssueName,
  { id, begun }: CommandOnce,
): Promise<CommandAnswer> {
  const { claims, store, project } = parts;
  const running = claims.running.get(issue.id);
  if (running?.holdAfterwards?.code === takenOver)
    return refused('run_ending', `The run of ${issue.identifier} is still being stopped.`);
  if (claims.held.get(issue.id)?.code !== takenOver) {
    const stored = (await store.held.list(project)).find(({ issueId }) => issueId === issue.id);
    // The hold belongs to a dead daemon and is not inherited yet: a moment later it is ours.
    if (stored?.code === takenOver)
      throw new BatonError(
        'claim_lost',
        `This daemon is still inheriting ${issue.identifier} from a daemon that is gone.`,
      );
    const before = await lastChange(parts, issue);
    const by = before?.kind === 'issue_handback' ? before.by : null;
    if (begun === null && by === null) return refused('not_taken_over', `${issue.identifier} is not taken over.`);
    const who = by === null ? '' : ` by ${by}`;
    const text = `${issue.identifier} was already handed back${who}: ${claimText(parts, issue)}`;
    return done('already_handed_back', text, { by });
  }
  await store.commands.begin(id, 'it is handed back');
  await retryHeld(parts, issue.id, 'handed_back');
  return done('handed_back', `${issue.identifier} is handed back; an agent continues the work.`);
}

/**
 * Sends a message to the running agent, at most once: the attempt is stored before it is made. After a crash in
 * between, Baton cannot know whether the agent got it, so it reports that to the caller and does not send it again.
 */
export async function steerRun(
  { claims, store, runs }: HandOverParts,
  issue: IssueName,
  { id, begun, text }: CommandOnce & { readonly text: string | null },
): Promise<CommandAnswer> {
  const { identifier } = issue;
  if (text === null) return refused('nothing_to_say', 'The command has no text for the agent.');
  if (begun !== null)
    return done(
      'message_uncertain',
      `The daemon stopped while it delivered the message to the agent of ${identifier}. Baton does not send it twice. Send it again if the agent does not have it.`,
    );
  const running = claims.running.get(issue.id);
  if (running === undefined) return refused('not_running', `${identifier} is not running.`);
  if (running.stopRequested !== null) return refused('run_ending', `The run of ${identifier} is being stopped.`);
  const delivered = done('message_delivered', `Delivered to the agent of ${identifier}.`);
  if (!(await store.commands.begin(id, running.runId))) return delivered;
  try {
    if (claims.get(issue.id) !== running)
      throw new BatonError('command_refused', 'The run has just ended.', { details: { problem: 'run_ended' } });
    const how = await runs.steer(running, text);
    if (how === 'delivered') return delivered;
    return done('message_waits_for_turn', `The agent of ${identifier} gets the message at its next turn.`);
  } catch (thrown) {
    // The message was not sent.
    await store.commands.begin(id, null);
    const error = toBatonError(thrown);
    if (error.code !== 'command_refused') throw thrown;
    return refused('message_not_taken', error.message, error.details);
  }
}
