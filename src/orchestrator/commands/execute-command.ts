import { BatonError } from '../../core/baton-error.ts';
import { askedHold, isAskedHold } from '../../core/command/asked-hold.ts';
import { type CommandKind, isCommandKind } from '../../core/command/command.ts';
import { type CommandAnswer, done, refused } from '../../core/command/command-answers.ts';
import type { Author } from '../../core/issue/author.ts';
import type { PruneRow } from '../../core/prune.ts';
import { defaultAgent, settingsOfAgent } from '../../core/run/choose-agent.ts';
import type { Settings } from '../../core/settings.ts';
import type { Command } from '../../store/tables/commands.ts';
import type { IssueName, Retrying } from '../claims/claim.ts';
import type { Pruning } from '../jobs/pruning.ts';
import type { BaseParts } from '../parts.ts';
import { type DecidePullParts, decidePull, isPullCommandKind } from '../review/decide-pull.ts';
import { whyDayLimit } from '../runs/check-limits.ts';
import type { Spending } from '../runs/spending.ts';
import { changeLearning, isLearningCommandKind } from '../tasks/learning-commands.ts';
import { changeTask, isTaskCommandKind, type TaskCommandParts } from '../tasks/task-commands.ts';
import type { WorkspaceSweep } from '../workspaces/sweep-workspaces.ts';
import { type AnswerParts, answerQuestion } from './answer-question.ts';
import { type ChangeIssueParts, changeIssue, type IssueEditKind, isIssueEditKind } from './change-issue.ts';
import { type ChangePhaseParts, changePhase, isPhaseCommandKind } from './change-phase.ts';
import { findIssue, leaveToItsOwner } from './find-issue.ts';
import { type HandOverParts, handBack, steerRun, takeOverByHand } from './hand-over.ts';
import { releaseByPerson, tryAccounts, tryLogins } from './hold.ts';
import { claimText, lastChange } from './last-change.ts';
import type { Pause, PauseState } from './pause.ts';
import { pinWorkspace } from './pin-workspace.ts';
import { type NotActiveParts, noAgentToSteer, noSuchIssue, whyNotActive } from './refuse-issue.ts';
import { whyNotForRun } from './why-not-for-run.ts';
import { withMessage } from './with-message.ts';

export interface CommandParts
  extends NotActiveParts,
    AnswerParts,
    HandOverParts,
    ChangeIssueParts,
    DecidePullParts,
    ChangePhaseParts,
    TaskCommandParts,
    Pick<BaseParts, 'host' | 'notify' | 'own' | 'requestTick' | 'source'> {
  readonly pause: Pause;
  readonly spending: Spending;
  readonly sweep: WorkspaceSweep;
  readonly pruning: Pruning;
}

/** Carries out one command, or refuses it with a reason. Never leaves it half done. Null: it has begun, and is not finished. */
export async function executeCommand(parts: CommandParts, command: Command): Promise<CommandAnswer | null> {
  const { kind } = command;
  if (!isCommandKind(kind)) return refused('unknown_command', `This version of Baton has no command "${kind}".`);
  const notForRun = await whyNotForRun(parts.store, command);
  if (notForRun !== null) return refused('not_for_agents', notForRun);
  const reason = textIn(command, 'reason');
  if (kind === 'pause' || kind === 'drain') return startPause(parts, command.id, kind, reason);
  if (kind === 'resume') return resume(parts, command.id);
  if (kind === 'reload') return reload(parts, command);
  if (kind === 'workspaces_prune') return pruneWorkspaces(parts, command);
  if (kind === 'prune') return pruneAll(parts, command);
  if (kind === 'question_answer') return answerQuestion(parts, command);
  if (isIssueEditKind(kind)) return changeIssue(parts, command, kind);
  if (isPullCommandKind(kind)) return decidePull(parts, command, kind);
  if (isPhaseCommandKind(kind)) return changePhase(parts, command, kind);
  if (isTaskCommandKind(kind)) return changeTask(parts, command, kind);
  if (isLearningCommandKind(kind)) return changeLearning(parts, command, kind);
  if (kind === 'workspace_pin' || kind === 'workspace_unpin') return pinWorkspace(parts, command, kind);
  return onIssue(parts, command, kind);
}

/** Finds the issue of the command, and carries it out where the issue allows it. */
async function onIssue(parts: CommandParts, command: Command, kind: IssueKind): Promise<CommandAnswer> {
  const reference = textIn(command, 'issue');
  if (reference === null) return refused('no_issue_named', 'The command names no issue.');
  const found = await findIssue(parts, reference);
  if (found === null) return noSuchIssue(parts, reference);
  const { issue } = found;
  // The run may have ended since it gave the command, and another may work on the issue.
  if (!isOwnWork(parts, issue, command.author)) return refused('not_for_agents', 'The run that asked has ended.');
  await leaveToItsOwner(parts, issue);
  if (parts.claims.get(issue.id)?.status === 'inheriting')
    throw new BatonError(
      'claim_lost',
      `This daemon is still inheriting ${issue.identifier} from a daemon that is gone.`,
    );
  const notActive = await whyNotActive(parts, found, kind);
  const note = textIn(command, 'note');
  if (notActive !== null && needsAgent(kind, note) && command.begun === null) return notActive;
  const answer = await withMessage(parts, issue.id, command, { kind: 'note', body: note }, () =>
    aboutIssue(parts, kind, issue, command),
  );
  // A repeated handback reports that it was done before. Otherwise the state of the issue explains more than "not taken
  // over".
  const isHandback = kind === 'issue_handback' && answer.status === 'refused';
  return isHandback && notActive !== null ? notActive : answer;
}

/** Whether the author is a person, or the run that works on the issue or has ended and left it on hold. */
function isOwnWork({ claims }: CommandParts, issue: IssueName, author: Author): boolean {
  if (author.kind !== 'run') return true;
  return (claims.running.get(issue.id)?.runId ?? claims.held.get(issue.id)?.runId) === author.runId;
}

/** Whether the command means nothing for an issue that no agent will work on. */
function needsAgent(kind: CommandKind, note: string | null): boolean {
  return needsWork.has(kind) || (note !== null && kind === 'issue_release');
}

const needsWork: ReadonlySet<CommandKind> = new Set(['issue_steer', 'issue_takeover', 'issue_retry']);

async function aboutIssue(
  parts: CommandParts,
  kind: IssueKind,
  issue: IssueName,
  command: Command,
): Promise<CommandAnswer> {
  if (kind === 'issue_steer') {
    const text = textIn(command, 'text');
    if (text !== null && command.begun === null && !parts.claims.running.has(issue.id))
      return noAgentToSteer(parts, issue);
    return steerRun(parts, issue, { ...command, text });
  }
  if (kind === 'issue_handback') return handBack(parts, issue, command);
  if (kind === 'issue_retry') return retryIssue(parts, issue, textIn(command, 'agent'));
  const wanted = kind === 'issue_stop' ? textIn(command, 'run') : null;
  const running = parts.claims.running.get(issue.id);
  if (wanted !== null && running !== undefined && running.runId !== wanted)
    return refused(
      'run_already_ended',
      `The run ${wanted} of ${issue.identifier} has ended. Another run is in progress and was not stopped.`,
    );
  return issueCommands[kind](parts, issue, textIn(command, 'reason'), command.author);
}

type IssueKind = Exclude<Extract<CommandKind, `issue_${string}`>, IssueEditKind>;
type IssueCommandKind = Exclude<IssueKind, 'issue_steer' | 'issue_handback' | 'issue_retry'>;
type IssueCommand = (
  parts: CommandParts,
  issue: IssueName,
  reason: string | null,
  author: Author,
) => Promise<CommandAnswer>;

/** Retries an issue now, with the agent that the person chose, if they did. */
async function retryIssue(parts: CommandParts, issue: IssueName, agent: string | null): Promise<CommandAnswer> {
  const { claims, skipped, source } = parts;
  const unknown = agent === null ? null : unknownAgent(source.read().workflow.settings, agent);
  if (unknown !== null) return unknown;
  if (claims.running.has(issue.id)) return refused('already_running', `${issue.identifier} is already running.`);
  const now = done('retry_now', `Retrying ${issue.identifier} now.`);
  const waiting = claims.retrying.get(issue.id);
  if (waiting !== undefined) {
    await retryWaiting(parts, waiting, agent);
    return now;
  }
  // A person who retries the issue has fixed what it was held for.
  const held = claims.held.get(issue.id);
  if (held !== undefined) await (held.code === 'agent_auth_failed' ? tryAccounts(parts) : tryLogins(parts));
  const wasHeld = await releaseByPerson(parts, issue.id, agent);
  const why = skipped.get(issue.id)?.reason;
  const waitsForAccount = why?.code === 'waiting_quota';
  const waitsForEnvironment = why?.code === 'environment';
  if (!wasHeld && waitsForAccount) await tryAccounts(parts);
  if (!wasHeld && waitsForEnvironment) parts.environment.tryAgain();
  parts.requestTick();
  if (wasHeld || (agent === null && (why === undefined || waitsForAccount || waitsForEnvironment))) return now;
  const text = `${issue.identifier} is not waiting for a retry${why === undefined ? '' : `: ${why.text}`}`;
  return refused('not_waiting', text, { reason_code: why?.code ?? null });
}

async function retryWaiting(parts: CommandParts, waiting: Retrying, agent: string | null): Promise<void> {
  const { claims } = parts;
  const { id } = waiting.issue;
  const waitsForAccount = waiting.kind === 'quota' || waiting.wait?.code === 'waiting_quota';
  await (waitsForAccount ? tryAccounts(parts) : tryLogins(parts));
  if (agent !== null) return void (await claims.retryWith(id, agent));
  const current = claims.retrying.get(id);
  if (current !== undefined) claims.postpone(current, { delayMs: 0 });
}

function unknownAgent(settings: Settings, agent: string): CommandAnswer | null {
  if (settingsOfAgent(settings, agent) !== null) return null;
  const agents = [defaultAgent, ...Object.keys(settings.agents)];
  return refused('unknown_agent', `The workflow file has no agent "${agent}". It has: ${agents.join(', ')}.`, {
    agents,
  });
}

const issueCommands: Record<IssueCommandKind, IssueCommand> = {
  issue_takeover: takeOverByHand,

  async issue_hold(parts, issue, reason, author) {
    const { claims, clock } = parts;
    const held = claims.held.get(issue.id);
    const { code, who } = askedHold(author);
    if (held !== undefined) {
      const text = `${issue.identifier} is already on hold: ${held.reason}`;
      const data = { hold_code: held.code, reason: held.reason };
      return isAskedHold(held.code) ? done('already_held', text, data) : refused('held_for_another_reason', text, data);
    }
    const why = reason ?? `${who} asked for it`;
    const runId = claims.running.get(issue.id)?.runId ?? null;
    const answer = await claims.hold({ issue, code, reason: why, since: clock.now(), runId });
    return answer === 'after_run'
      ? done('held_after_run', `${issue.identifier} goes on hold when its run ends.`)
      : done('held', `${issue.identifier} is on hold.`);
  },

  async issue_release(parts, issue) {
    const isRunning = parts.claims.running.has(issue.id);
    if (parts.claims.held.has(issue.id)) await tryLogins(parts);
    if (!(await releaseByPerson(parts, issue.id))) {
      const before = await lastChange(parts, issue);
      if (before?.kind !== 'issue_release') return refused('not_held', `${issue.identifier} is not on hold.`);
      const text = `${issue.identifier} was already released by ${before.by}: ${claimText(parts, issue)}`;
      return done('already_released', text, { by: before.by });
    }
    parts.requestTick();
    if (isRunning) return done('released_after_run', `${issue.identifier} no longer goes on hold when its run ends.`);
    return done('released', `${issue.identifier} is no longer on hold.`);
  },

  async issue_stop(parts, issue, reason, author) {
    const running = parts.claims.running.get(issue.id);
    if (running === undefined) return noRunToStop(parts, issue);
    const isBeingEnded = running.stopRequested === 'stopped_by_person' && reason === null;
    if (isBeingEnded) return done('already_stopping', `The run of ${issue.identifier} is already being stopped.`);
    const { code, who } = askedHold(author);
    const why = reason ?? `${who} stopped its run`;
    await parts.claims.hold({ issue, code, reason: why, since: parts.clock.now(), runId: running.runId });
    parts.runs.stop(running, 'stopped_by_person');
    return done('stopping', `Stopping the run of ${issue.identifier}; then the issue goes on hold.`);
  },
};

/** A repeated stop succeeds: there is no run, and the issue is held. */
async function noRunToStop(parts: CommandParts, issue: IssueName): Promise<CommandAnswer> {
  const { identifier } = issue;
  const held = parts.claims.held.get(issue.id);
  const before = await lastChange(parts, issue);
  const isStopped =
    before?.kind === 'issue_stop' || (held !== undefined && isAskedHold(held.code) && held.runId !== null);
  if (!isStopped) return refused('not_running', `${identifier} is not running.`);
  const by = before?.kind === 'issue_stop' ? before.by : null;
  const who = by === null ? '' : ` by ${by}`;
  return done('already_stopped', `The run of ${identifier} was already stopped${who}: ${claimText(parts, issue)}`, {
    by,
  });
}

/** After this time the person who asked may have changed their mind. */
const pruneWithinMs = 3_600_000;

/** Files and branches are on that machine, and a person who waits that long may have changed their mind. */
function whyNotHere({ clock, host: here }: CommandParts, { payload: { host }, at }: Command): CommandAnswer | null {
  if (clock.now() - at > pruneWithinMs)
    return refused('command_expired', 'The command waited for more than an hour, so it was not carried out.');
  if (host !== here) throw new BatonError('claim_lost', `The command is for the daemon on ${String(host)}.`);
  return null;
}

/** Saving and removing take time, and other commands do not wait for it: the answer comes at the end. */
function pruneAll(parts: CommandParts, command: Command): CommandAnswer | null {
  const objection = whyNotHere(parts, command);
  if (objection !== null) return objection;
  const rows = parts.pruning.ask(command.id);
  return rows === null ? null : pruned(rows);
}

/** The answer to `prune`. */
export function pruned(rows: readonly PruneRow[]): CommandAnswer {
  const count = rows.reduce((sum, row) => sum + row.count, 0);
  return done('pruned', `Removed what was past its retention: ${count} in all.`, { rows });
}

/** Only begins the prune: saving and removing take time, and other commands do not wait for it. */
function pruneWorkspaces(parts: CommandParts, command: Command): CommandAnswer {
  const { issues, ignores_retention } = command.payload;
  if (!Array.isArray(issues) || !issues.every((id) => typeof id === 'string'))
    return refused('no_issue_named', 'The command names no issues.');
  const objection = whyNotHere(parts, command);
  if (objection !== null) return objection;
  const request = { issueIds: issues, ignoresRetention: ignores_retention === true };
  parts.own('sweep', parts.sweep.run(request));
  const count = issues.length === 1 ? '1 workspace' : `${issues.length} workspaces`;
  return done('workspaces_being_removed', `Removing ${count}.`, { workspaces: issues.length });
}

function startPause(
  { pause, claims, notify, requestTick }: CommandParts,
  commandId: string,
  kind: PauseState['kind'],
  reason: string | null,
): CommandAnswer {
  // A command that was carried out but not answered comes again.
  if (pause.state?.kind === kind && !pause.isBy(commandId))
    return kind === 'pause'
      ? refused('already_paused', 'Baton is already paused.')
      : refused('already_draining', 'Baton is already draining.');
  pause.set(kind, reason, commandId);
  notify();
  requestTick();
  const { size } = claims.running;
  const continues = size === 1 ? ' 1 run continues.' : ` ${size} runs continue.`;
  const text = `No new work starts.${size === 0 ? '' : continues}`;
  const data = { runs: size };
  return kind === 'pause' ? done('paused', text, data) : done('draining', `${text} Then Baton stops.`, data);
}

/** Lifts a pause. If the limit of the day has stopped work, it also allows more for today. */
async function resume(parts: CommandParts, commandId: string): Promise<CommandAnswer> {
  const { pause, spending, notify, requestTick } = parts;
  const isDayOver = whyDayLimit(parts) !== null;
  if (pause.state === null && !isDayOver && !pause.isBy(commandId))
    return refused('not_paused', 'Baton is not paused.');
  if (isDayOver) await spending.allowMore();
  pause.lift(commandId);
  notify();
  requestTick();
  return isDayOver
    ? done('resumed_with_allowance', 'New work starts again, with another allowance for today.')
    : done('resumed', 'New work starts again.');
}

/** Lets changes of the workflow file count that an agent could have made. */
function reload({ source, notify, requestTick }: CommandParts, command: Command): CommandAnswer {
  const taken = source.takeWaiting?.(textIn(command, 'revision')) ?? 'none_wait';
  if (taken === 'none_wait') return refused('nothing_to_reload', 'No change of the workflow file waits for you.');
  if (taken === 'others_wait')
    return refused('other_changes_wait', 'The workflow file has changed once more: check the new changes first.');
  notify();
  requestTick();
  const { keys } = taken;
  const { problem } = source.read();
  // Another rule may refuse the file: it names another store, or clashes with another project.
  if (problem !== null) return refused(problem.code, problem.message, problem.details);
  return done('reloaded', `These settings of the workflow file are in force now: ${keys.join(', ')}.`, { keys });
}

function textIn({ payload }: Command, name: string): string | null {
  const value = payload[name];
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : null;
}
