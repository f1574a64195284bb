import type { Clock } from '../../clock/clock.ts';
import { BatonError, toBatonError } from '../../core/baton-error.ts';
import { type CommandAnswer, done, refused } from '../../core/command/command-answers.ts';
import { handbackCommand, survivesReason } from '../../core/command/retry-command.ts';
import type { Command } from '../../store/tables/commands.ts';
import type { IssueName } from '../claims/claim.ts';
import type { Runs } from '../runs/runs.ts';
import { type HoldParts, retryHeld } from './hold.ts';
import { howItStands, lastChange } from './last-change.ts';

export interface HandOverParts extends HoldParts {
  readonly runs: Runs;
  readonly clock: Clock;
}

/** What an issue is held for while a person goes on with it by hand. */
const takenOver = 'taken_over';

/**
 * A person goes on with an issue by hand: its agent is ended, and its claim is kept, so that nobody else starts on it. The
 * workspace and the agent's own conversation stay as they are.
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
    reason: `A person works on it by hand${by}. To give it back: ${handbackCommand(identifier)}`,
  };
  // Beside an agent that may be alive nobody works by hand.
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

/** A command, and what was begun of it before the daemon ended that was carrying it out. */
type CommandOnce = Pick<Command, 'id' | 'begun'>;

/** The person is done: an agent goes on from what is there now. */
export async function handBack(
  parts: HandOverParts,
  issue: IssueName,
  { id, begun, note }: CommandOnce & { readonly note: string | null },
): Promise<CommandAnswer> {
  const { claims, store, project } = parts;
  const running = claims.running.get(issue.id);
  if (running?.holdAfterwards?.code === takenOver)
    return refused('run_ending', `The run of ${issue.identifier} is still being stopped.`);
  if (claims.held.get(issue.id)?.code !== takenOver) {
    const stored = (await store.held.list(project)).find(({ issueId }) => issueId === issue.id);
    // Of a daemon that is gone, and not taken over yet: a moment later it is ours.
    if (stored?.code === takenOver) throw new BatonError('claim_lost', `${issue.identifier} is being taken over.`);
    const before = await lastChange(parts, issue);
    const by = before?.kind === 'issue_handback' ? before.by : null;
    if (begun === null && by === null) return refused('not_taken_over', `${issue.identifier} is not taken over.`);
    const who = by === null ? '' : ` by ${by}`;
    const text = `${issue.identifier} was already handed back${who}: ${howItStands(parts, issue)}`;
    return done('already_handed_back', text, { by });
  }
  await store.commands.begin(id, 'it is handed back');
  await retryHeld(parts, issue.id, { kind: 'handed_back', note });
  return done('handed_back', `${issue.identifier} is handed back; an agent continues the work.`);
}

/**
 * Says something to the agent at work, once: that it is about to be said is written down before. After a crash in between
 * nobody knows whether the agent heard it, and who asked is told that, rather than the agent the same again.
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
      `The daemon stopped while it delivered the message to the agent of ${identifier}. It is not sent twice; send it again if the agent does not have it.`,
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
    if (how === 'told') return delivered;
    return done('message_waits_for_turn', `The agent of ${identifier} gets the message at its next turn.`);
  } catch (thrown) {
    // It was not said.
    await store.commands.begin(id, null);
    const error = toBatonError(thrown);
    if (error.code !== 'command_refused') throw thrown;
    return refused('message_not_taken', error.message, error.details);
  }
}
