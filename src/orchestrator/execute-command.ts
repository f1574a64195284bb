import { askedHold, isAskedHold } from '../core/asked-hold.ts';
import type { Author } from '../core/author.ts';
import { BatonError } from '../core/baton-error.ts';
import { type CommandKind, isCommandKind, whyNotForRuns } from '../core/command.ts';
import { type CommandAnswer, done, refused } from '../core/command-answers.ts';
import type { Command } from '../store/commands.ts';
import { answerQuestion } from './answer-question.ts';
import { changeIssue, type DeskKind, isDeskKind } from './change-issue.ts';
import { whyDayIsOver } from './check-limits.ts';
import type { OrchestratorContext } from './context.ts';
import { howItStands, lastChange } from './done-before.ts';
import { findIssue } from './find-issue.ts';
import { handBack, steerRun, takeOverByHand } from './hand-over.ts';
import { holdAfterRun, holdIssue, releaseHold } from './hold-issue.ts';
import { leaveNote } from './leave-note.ts';
import { leaveToItsOwner } from './leave-to-owner.ts';
import { scheduleLook } from './schedule-look.ts';
import type { IssueName, Pause } from './scheduling-state.ts';
import { stopRun } from './stop-run.ts';
import { sweepWorkspaces } from './sweep-workspaces.ts';
import { allowMoreToday } from './today.ts';
import { tryAccounts, tryLogins } from './try-accounts.ts';
import { nobodyHears, noSuchIssue, whyLeftAlone } from './why-left-alone.ts';

/** Carries out one command. A command that cannot be carried out is refused with the reason; nothing is half done. */
export async function executeCommand(context: OrchestratorContext, command: Command): Promise<CommandAnswer> {
  const { kind } = command;
  if (!isCommandKind(kind)) return refused('unknown_command', `This version of Baton has no command "${kind}".`);
  const notForRuns = command.author.kind === 'run' ? whyNotForRuns(kind) : null;
  if (notForRuns !== null) return refused('not_for_agents', notForRuns);
  const reason = textIn(command, 'reason');
  if (kind === 'pause' || kind === 'drain') return pause(context, command.id, kind, reason);
  if (kind === 'resume') return resume(context, command.id);
  if (kind === 'workspaces_prune') return pruneWorkspaces(context, command);
  if (kind === 'question_answer') return answerQuestion(context, command);
  if (isDeskKind(kind)) return changeIssue(context, command, kind);
  const reference = textIn(command, 'issue');
  if (reference === null) return refused('no_issue_named', 'The command names no issue.');
  const found = await findIssue(context, reference);
  if (found === null) return noSuchIssue(context, reference);
  const { issue } = found;
  await leaveToItsOwner(context, issue);
  if (context.state.adopting.has(issue.id))
    throw new BatonError('claim_lost', `${issue.identifier} is being taken over from an earlier life.`);
  const leftAlone = await whyLeftAlone(context, found);
  if (leftAlone !== null && needsWork.has(kind) && command.begun === null) return leftAlone;
  const answer = await aboutIssue(context, kind, issue, command);
  // One that was done before is told so; otherwise the state says more than that it is in nobody's hands.
  const isHandback = kind === 'issue_handback' && answer.status === 'refused';
  return isHandback && leftAlone !== null ? leftAlone : answer;
}

/** Commands that mean nothing for an issue that nobody will work on. */
const needsWork: ReadonlySet<CommandKind> = new Set(['issue_steer', 'issue_takeover', 'issue_retry']);

async function aboutIssue(
  context: OrchestratorContext,
  kind: Exclude<Extract<CommandKind, `issue_${string}`>, DeskKind>,
  issue: IssueName,
  command: Command,
): Promise<CommandAnswer> {
  if (kind === 'issue_steer') {
    const text = textIn(command, 'text');
    if (text !== null && command.begun === null && !context.state.running.has(issue.id))
      return nobodyHears(context, issue);
    return steerRun(context, issue, { ...command, text });
  }
  if (kind === 'issue_handback') return handBack(context, issue, { ...command, note: textIn(command, 'note') });
  const wanted = kind === 'issue_stop' ? textIn(command, 'run') : null;
  const running = context.state.running.get(issue.id);
  if (wanted !== null && running !== undefined && running.runId !== wanted)
    return refused(
      'run_already_ended',
      `The run ${wanted} of ${issue.identifier} has ended. Another run is in progress and was not stopped.`,
    );
  const note = kind === 'issue_retry' ? textIn(command, 'note') : null;
  if (note !== null && !(await leaveNote(context, issue, note)))
    return refused(
      'no_run_for_note',
      `${issue.identifier} has had no run yet, so no agent would read the note. Write it in the issue itself.`,
    );
  return issueCommands[kind](context, issue, textIn(command, 'reason'), command.author);
}

type IssueCommandKind = Exclude<Extract<CommandKind, `issue_${string}`>, 'issue_steer' | 'issue_handback' | DeskKind>;
type IssueCommand = (
  context: OrchestratorContext,
  issue: IssueName,
  reason: string | null,
  author: Author,
) => Promise<CommandAnswer>;

const issueCommands: Record<IssueCommandKind, IssueCommand> = {
  issue_takeover: takeOverByHand,

  async issue_retry(context, issue) {
    const { state } = context;
    if (state.running.has(issue.id)) return refused('already_running', `${issue.identifier} is already running.`);
    const waiting = state.retrying.get(issue.id);
    if (waiting !== undefined) {
      const waitsForAccount = waiting.kind === 'quota' || waiting.wait?.code === 'waiting_quota';
      await (waitsForAccount ? tryAccounts(context) : tryLogins(context));
      scheduleLook(context, waiting, { delayMs: 0 });
      return done('retry_now', `Retrying ${issue.identifier} now.`);
    }
    // Whoever asks for it has seen to what held it.
    const held = state.held.get(issue.id);
    if (held !== undefined) await (held.code === 'agent_auth_failed' ? tryAccounts(context) : tryLogins(context));
    const wasHeld = await releaseHold(context, issue.id, { byPerson: true });
    const why = state.skipped.get(issue.id)?.reason;
    const waitsForAccount = why?.code === 'waiting_quota';
    if (!wasHeld && waitsForAccount) await tryAccounts(context);
    context.requestTick();
    if (!wasHeld && why !== undefined && !waitsForAccount)
      return refused('not_waiting', `${issue.identifier} is not waiting for a retry: ${why.text}`, {
        reason_code: why.code,
      });
    return done('retry_now', `Retrying ${issue.identifier} now.`);
  },

  async issue_hold(context, issue, reason, author) {
    const { state, clock } = context;
    const held = state.held.get(issue.id);
    const { code, who } = askedHold(author);
    if (held !== undefined) {
      const text = `${issue.identifier} is already on hold: ${held.reason}`;
      const data = { hold_code: held.code, reason: held.reason };
      return isAskedHold(held.code) ? done('already_held', text, data) : refused('held_for_another_reason', text, data);
    }
    const why = reason ?? `${who} asked for it`;
    const running = state.running.get(issue.id);
    if (running !== undefined) {
      await holdAfterRun(context, running, { code, reason: why });
      return done('held_after_run', `${issue.identifier} goes on hold when its run ends.`);
    }
    await holdIssue(context, { issue, code, reason: why, since: clock.now(), runId: null });
    return done('held', `${issue.identifier} is on hold.`);
  },

  async issue_release(context, issue) {
    const isRunning = context.state.running.has(issue.id);
    if (context.state.held.has(issue.id)) await tryLogins(context);
    if (!(await releaseHold(context, issue.id, { byPerson: true }))) {
      const before = await lastChange(context, issue);
      if (before?.kind !== 'issue_release') return refused('not_held', `${issue.identifier} is not on hold.`);
      const text = `${issue.identifier} was already released by ${before.by}: ${howItStands(context, issue)}`;
      return done('already_released', text, { by: before.by });
    }
    context.requestTick();
    if (isRunning) return done('released_after_run', `${issue.identifier} no longer goes on hold when its run ends.`);
    return done('released', `${issue.identifier} is no longer on hold.`);
  },

  async issue_stop(context, issue, reason, author) {
    const running = context.state.running.get(issue.id);
    if (running === undefined) return noRunToStop(context, issue);
    const isBeingEnded = running.stopRequested === 'stopped_by_person' && reason === null;
    if (isBeingEnded) return done('already_stopping', `The run of ${issue.identifier} is already being stopped.`);
    const { code, who } = askedHold(author);
    await holdAfterRun(context, running, { code, reason: reason ?? `${who} stopped its run` });
    stopRun(context, running, 'stopped_by_person');
    return done('stopping', `Stopping the run of ${issue.identifier}; then the issue goes on hold.`);
  },
};

/** A stop that is repeated finds what it wanted: no run, and the issue held. */
async function noRunToStop(context: OrchestratorContext, issue: IssueName): Promise<CommandAnswer> {
  const { identifier } = issue;
  const held = context.state.held.get(issue.id);
  const before = await lastChange(context, issue);
  const isStopped =
    before?.kind === 'issue_stop' || (held !== undefined && isAskedHold(held.code) && held.runId !== null);
  if (!isStopped) return refused('not_running', `${identifier} is not running.`);
  const by = before?.kind === 'issue_stop' ? before.by : null;
  const who = by === null ? '' : ` by ${by}`;
  return done('already_stopped', `The run of ${identifier} was already stopped${who}: ${howItStands(context, issue)}`, {
    by,
  });
}

/** Whoever asked has gone by then, and may have changed his mind. */
const pruneWithinMs = 3_600_000;

/** Begins it: to save and to remove takes its time, and other commands do not wait for it. */
function pruneWorkspaces(context: OrchestratorContext, { payload, at }: Command): CommandAnswer {
  const { issues, host, ignores_retention } = payload;
  if (!Array.isArray(issues) || !issues.every((id) => typeof id === 'string'))
    return refused('no_issue_named', 'The command names no issues.');
  if (context.clock.now() - at > pruneWithinMs)
    return refused('command_expired', 'No daemon could carry out the command for an hour.');
  // The directories are on that machine.
  if (host !== context.host) throw new BatonError('claim_lost', `The workspaces are on ${String(host)}.`);
  const wish = { issueIds: issues, ignoresRetention: ignores_retention === true };
  context.own('sweep', sweepWorkspaces(context, wish));
  const count = issues.length === 1 ? '1 workspace' : `${issues.length} workspaces`;
  return done('workspaces_being_removed', `Removing ${count}.`, { workspaces: issues.length });
}

function pause(
  { state, clock, notify, requestTick }: OrchestratorContext,
  commandId: string,
  kind: Pause['kind'],
  reason: string | null,
): CommandAnswer {
  // One that was carried out and could not be answered comes again.
  if (state.paused?.kind === kind && state.unansweredPause !== commandId)
    return kind === 'pause'
      ? refused('already_paused', 'Baton is already paused.')
      : refused('already_draining', 'Baton is already draining.');
  state.paused = { since: clock.now(), kind, reason };
  state.unansweredPause = commandId;
  notify();
  requestTick();
  const { size } = state.running;
  const text = `No new work starts; ${size === 1 ? '1 run continues' : `${size} runs continue`}`;
  const data = { runs: size };
  return kind === 'pause' ? done('paused', `${text}.`, data) : done('draining', `${text}, then Baton stops.`, data);
}

/** Lifts a pause; and where the limit of the day has stopped work, gives it another allowance. */
async function resume(context: OrchestratorContext, commandId: string): Promise<CommandAnswer> {
  const { state, notify, requestTick } = context;
  const isDayOver = whyDayIsOver(context) !== null;
  if (state.paused === null && !isDayOver && state.unansweredPause !== commandId)
    return refused('not_paused', 'Baton is not paused.');
  if (isDayOver) await allowMoreToday(context);
  state.paused = null;
  state.unansweredPause = commandId;
  notify();
  requestTick();
  return isDayOver
    ? done('resumed_with_allowance', 'New work starts again, with another allowance for today.')
    : done('resumed', 'New work starts again.');
}

function textIn({ payload }: Command, name: string): string | null {
  const value = payload[name];
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : null;
}
