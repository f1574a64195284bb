import { askedHold, isAskedHold } from '../core/asked-hold.ts';
import type { Author } from '../core/author.ts';
import { BatonError } from '../core/baton-error.ts';
import { type CommandAnswer, type CommandKind, isCommandKind, whyNotForRuns } from '../core/command.ts';
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
  if (!isCommandKind(kind)) return refused(`this version knows no command "${kind}"`);
  const notForRuns = command.author.kind === 'run' ? whyNotForRuns(kind) : null;
  if (notForRuns !== null) return refused(notForRuns);
  const reason = textIn(command, 'reason');
  if (kind === 'pause' || kind === 'drain') return pause(context, command.id, kind, reason);
  if (kind === 'resume') return resume(context, command.id);
  if (kind === 'workspaces_prune') return pruneWorkspaces(context, command);
  if (kind === 'question_answer') return answerQuestion(context, command);
  if (isDeskKind(kind)) return changeIssue(context, command, kind);
  const reference = textIn(command, 'issue');
  if (reference === null) return refused('the command names no issue');
  const found = await findIssue(context, reference);
  if (found === null) return refused(noSuchIssue(context, reference));
  const { issue } = found;
  await leaveToItsOwner(context, issue);
  if (context.state.adopting.has(issue.id))
    throw new BatonError('claim_lost', `${issue.identifier} is being taken over from an earlier life.`);
  const leftAlone = await whyLeftAlone(context, found);
  if (leftAlone !== null && needsWork.has(kind) && command.begun === null) return refused(leftAlone);
  const answer = await aboutIssue(context, kind, issue, command);
  // One that was done before is told so; otherwise the state says more than that it is in nobody's hands.
  const isHandback = kind === 'issue_handback' && answer.status === 'refused';
  return isHandback && leftAlone !== null ? refused(leftAlone) : answer;
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
      return refused(nobodyHears(context, issue));
    return steerRun(context, issue, { ...command, text });
  }
  if (kind === 'issue_handback') return handBack(context, issue, { ...command, note: textIn(command, 'note') });
  const wanted = kind === 'issue_stop' ? textIn(command, 'run') : null;
  const running = context.state.running.get(issue.id);
  if (wanted !== null && running !== undefined && running.runId !== wanted)
    return refused(`the run ${wanted} of ${issue.identifier} has ended; another one goes on, and is left alone`);
  const note = kind === 'issue_retry' ? textIn(command, 'note') : null;
  if (note !== null && !(await leaveNote(context, issue, note)))
    return refused(`${issue.identifier} had no run yet, so nobody would be told; say it on the issue itself`);
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
    if (state.running.has(issue.id)) return refused(`${issue.identifier} is running`);
    const waiting = state.retrying.get(issue.id);
    if (waiting !== undefined) {
      const waitsForAccount = waiting.kind === 'quota' || waiting.wait?.code === 'waiting_quota';
      await (waitsForAccount ? tryAccounts(context) : tryLogins(context));
      scheduleLook(context, waiting, { delayMs: 0 });
      return done(`${issue.identifier} is looked at now`);
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
      return refused(`${issue.identifier} is not waiting for a retry: ${why.text}`);
    return done(`${issue.identifier} is looked at now`);
  },

  async issue_hold(context, issue, reason, author) {
    const { state, clock } = context;
    const held = state.held.get(issue.id);
    const { code, who } = askedHold(author);
    if (isAskedHold(held?.code) && held !== undefined)
      return done(`${issue.identifier} is held already: ${held.reason}`);
    if (held !== undefined) return refused(`${issue.identifier} is held already: ${held.reason}`);
    const why = reason ?? `${who} asked for it`;
    const running = state.running.get(issue.id);
    if (running !== undefined) {
      await holdAfterRun(context, running, { code, reason: why });
      return done(`${issue.identifier} is held when its run has ended`);
    }
    await holdIssue(context, { issue, code, reason: why, since: clock.now(), runId: null });
    return done(`${issue.identifier} is held`);
  },

  async issue_release(context, issue) {
    const isRunning = context.state.running.has(issue.id);
    if (context.state.held.has(issue.id)) await tryLogins(context);
    if (!(await releaseHold(context, issue.id, { byPerson: true }))) {
      const before = await lastChange(context, issue);
      if (before?.kind !== 'issue_release') return refused(`${issue.identifier} is not held`);
      return done(`${issue.identifier} was released already${before.by}: ${howItStands(context, issue)}`);
    }
    context.requestTick();
    return done(`${issue.identifier} is not held ${isRunning ? 'when its run has ended' : 'any more'}`);
  },

  async issue_stop(context, issue, reason, author) {
    const running = context.state.running.get(issue.id);
    if (running === undefined) return noRunToStop(context, issue);
    const isBeingEnded = running.stopRequested === 'stopped_by_person' && reason === null;
    if (isBeingEnded) return done(`the run of ${issue.identifier} is being ended already`);
    const { code, who } = askedHold(author);
    await holdAfterRun(context, running, { code, reason: reason ?? `${who} stopped its run` });
    stopRun(context, running, 'stopped_by_person');
    return done(`the run of ${issue.identifier} is being ended; the issue is held afterwards`);
  },
};

/** A stop that is repeated finds what it wanted: no run, and the issue held. */
async function noRunToStop(context: OrchestratorContext, issue: IssueName): Promise<CommandAnswer> {
  const { identifier } = issue;
  const held = context.state.held.get(issue.id);
  const before = await lastChange(context, issue);
  const isStopped =
    before?.kind === 'issue_stop' || (held !== undefined && isAskedHold(held.code) && held.runId !== null);
  if (!isStopped) return refused(`${identifier} is not running`);
  const by = before?.kind === 'issue_stop' ? before.by : '';
  return done(`the run of ${identifier} was ended already${by}: ${howItStands(context, issue)}`);
}

/** Whoever asked has gone by then, and may have changed his mind. */
const pruneWithinMs = 3_600_000;

/** Begins it: to save and to remove takes its time, and other commands do not wait for it. */
function pruneWorkspaces(context: OrchestratorContext, { payload, at }: Command): CommandAnswer {
  const { issues, host, ignores_retention } = payload;
  if (!Array.isArray(issues) || !issues.every((id) => typeof id === 'string'))
    return refused('the command names no issues');
  if (context.clock.now() - at > pruneWithinMs) return refused('nobody could carry it out for an hour');
  // The directories are on that machine.
  if (host !== context.host) throw new BatonError('claim_lost', `The workspaces are on ${String(host)}.`);
  const wish = { issueIds: issues, ignoresRetention: ignores_retention === true };
  context.own('sweep', sweepWorkspaces(context, wish));
  return done(issues.length === 1 ? '1 workspace is being removed' : `${issues.length} workspaces are being removed`);
}

function pause(
  { state, clock, notify, requestTick }: OrchestratorContext,
  commandId: string,
  kind: Pause['kind'],
  reason: string | null,
): CommandAnswer {
  // One that was carried out and could not be answered comes again.
  if (state.paused?.kind === kind && state.unansweredPause !== commandId)
    return refused(kind === 'pause' ? 'it is paused already' : 'it is draining already');
  state.paused = { since: clock.now(), kind, reason };
  state.unansweredPause = commandId;
  notify();
  requestTick();
  const { size } = state.running;
  const runs = size === 1 ? '1 run goes' : `${size} runs go`;
  return done(`nothing new starts; ${runs} on${kind === 'drain' ? ', then Baton ends' : ''}`);
}

/** Lifts a pause; and where the limit of the day has stopped work, gives it another allowance. */
async function resume(context: OrchestratorContext, commandId: string): Promise<CommandAnswer> {
  const { state, notify, requestTick } = context;
  const isDayOver = whyDayIsOver(context) !== null;
  if (state.paused === null && !isDayOver && state.unansweredPause !== commandId) return refused('it is not paused');
  if (isDayOver) await allowMoreToday(context);
  state.paused = null;
  state.unansweredPause = commandId;
  notify();
  requestTick();
  return done(isDayOver ? 'new work starts again, with another allowance for today' : 'new work starts again');
}

function textIn({ payload }: Command, name: string): string | null {
  const value = payload[name];
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : null;
}

function done(text: string): CommandAnswer {
  return { status: 'done', text };
}

function refused(text: string): CommandAnswer {
  return { status: 'refused', text };
}
