import type { Agent, AgentSession, TurnResult } from '../agent/agent.ts';
import { BatonError, toBatonError } from '../core/baton-error.ts';
import { whyNotRoutable } from '../core/eligibility.ts';
import type { Issue } from '../core/issue.ts';
import type { Logger } from '../core/logger.ts';
import { lastStage, type RunOutcome, type StopReason } from '../core/run.ts';
import type { Settings } from '../core/settings.ts';
import { stopOutcome } from '../core/stop-outcome.ts';
import type { ToolDoor } from '../core/tool-door.ts';
import type { Workspace, Workspaces, WorkspaceVisit } from '../workspace/workspace.ts';
import { continuationPrompt } from './continuation-prompt.ts';
import { guardWatcher } from './guard-watcher.ts';
import type { LiveRun, Runner, RunRequest, RunWatcher } from './runner.ts';
import { thinEvents } from './thin-events.ts';

/** What the runner works with, chosen by the settings of the workflow the run began with. */
export interface RunnerParts {
  readonly agentFor: (settings: Settings) => Agent;
  readonly workspacesFor: (settings: Settings) => Workspaces;
  readonly toolDoorFor: (settings: Settings, run: ToolUser) => ToolDoor;
  /** The issue as it is in the tracker now, or null when it is not there any more. */
  readonly readIssue: (settings: Settings, id: string, signal: AbortSignal) => Promise<Issue | null>;
  readonly logger: Logger;
}

export interface ToolUser {
  readonly runId: string;
  readonly issueId: string;
  readonly onProgress: (text: string) => void;
  readonly onMove: (state: string) => void;
}

/** The runner: workspace, prompt, session, turns, outcome. */
export function createRunner(parts: RunnerParts): Runner {
  return { start: (request) => startRun(request, parts) };
}

function startRun(request: RunRequest, parts: RunnerParts): LiveRun {
  const stop = new AbortController();
  let reason: StopReason | null = null;
  let turns = 0;
  const guarded = guardWatcher(request.watcher, parts.logger.child(named(request)));
  const watcher: RunWatcher = {
    ...guarded,
    onTurn: (turn) => {
      turns = turn;
      guarded.onTurn(turn);
    },
  };
  const conclude = (error: BatonError | null): RunOutcome => {
    const outcome = outcomeOf(reason, error, turns);
    watcher.onStage(lastStage(outcome.end));
    return outcome;
  };
  return {
    outcome: runIssue({ ...request, watcher }, parts, stop.signal).then(
      () => conclude(null),
      (thrown) => conclude(toBatonError(thrown)),
    ),
    stop: (why) => {
      reason ??= why;
      stop.abort();
    },
  };
}

/** One run from its first stage to its last; rejects with what failed. */
async function runIssue(request: RunRequest, parts: RunnerParts, signal: AbortSignal): Promise<void> {
  const { issue, workflow, runId, attempt, watcher } = request;
  const workspaces = parts.workspacesFor(workflow.settings);
  watcher.onStage('preparing_workspace');
  const visit: WorkspaceVisit = { issue, runId, attempt, branch: workflow.renderBranch(issue), signal };
  const workspace = await workspaces.prepare(visit);
  watcher.onWorkspace(workspace.path);
  try {
    signal.throwIfAborted();
    await workspaces.beforeRun(workspace, visit);
    // After the hook, whose changes are not the agent's.
    const before = await workspaces.examine(workspace.path);
    watcher.onStage('building_prompt');
    // Rendered before the launch: a mistake in the template must not cost an agent (row 1.5 of the reference).
    const prompt = workflow.renderPrompt({ issue, attempt, retryKind: request.retryKind });
    await workspaces.verify(workspace, visit);
    signal.throwIfAborted();
    // A daemon that was frozen in a hook must not launch beside the agent of the one that took over.
    if (!request.isStillOurs()) throw new BatonError('claim_lost', 'The claim on the issue may be lost.');
    watcher.onStage('launching_agent_process');
    // Some backends have a process from the start, others only in a turn: the stage is told once, before the first turn.
    let isInitializing = false;
    const onInitializing = (): void => {
      if (!isInitializing) watcher.onStage('initializing_session');
      isInitializing = true;
    };
    const session = await startSession({ request, parts, workspace, signal, onInitializing });
    try {
      onInitializing();
      watcher.onSession(session.threadId);
      await runTurns({ request, parts, session, prompt, signal });
    } finally {
      watcher.onStage('finishing');
      try {
        await session.stop();
      } finally {
        const after = await workspaces.examine(workspace.path);
        const isSeen = before !== null && after !== null;
        watcher.onChanged(isSeen ? before.fingerprint !== after.fingerprint : null, after);
      }
    }
  } finally {
    const { signal: _stopsTheRunButNotTheHook, ...lastVisit } = visit;
    const delivery = await workspaces.afterRun(workspace, lastVisit);
    if (delivery !== null) watcher.onDelivery(delivery);
  }
}

interface SessionStart {
  readonly request: RunRequest;
  readonly parts: RunnerParts;
  readonly workspace: Workspace;
  readonly signal: AbortSignal;
  readonly onInitializing: () => void;
}

function startSession({ request, parts, workspace, signal, onInitializing }: SessionStart): Promise<AgentSession> {
  const { issue, workflow, runId, attempt, watcher } = request;
  return parts.agentFor(workflow.settings).startSession({
    runId,
    workspace: workspace.path,
    threadId: request.threadId,
    env: {
      BATON_ISSUE_ID: issue.id,
      BATON_ISSUE_IDENTIFIER: issue.identifier,
      BATON_WORKSPACE: workspace.path,
      ...(attempt === null ? {} : { BATON_ATTEMPT: String(attempt) }),
    },
    tools: parts.toolDoorFor(workflow.settings, {
      runId,
      issueId: issue.id,
      onProgress: (text) => parts.logger.info('The agent reports progress.', { progress: text, ...named(request) }),
      onMove: (state) => watcher.onMove(state),
    }),
    onProcess: (process) => {
      watcher.onProcess(process);
      onInitializing();
    },
    onEvent: thinEvents((event) => watcher.onEvent(event)),
    signal,
  });
}

interface TurnLoop {
  readonly request: RunRequest;
  readonly parts: RunnerParts;
  readonly session: AgentSession;
  readonly prompt: string;
  readonly signal: AbortSignal;
}

/** Turns until the issue is no longer to be worked on, the agent has no memory of earlier turns, or the limit is reached. */
async function runTurns({ request, parts, session, prompt, signal }: TurnLoop): Promise<void> {
  const { maxTurns } = request.workflow.settings.agent;
  for (let turn = 1; ; turn += 1) {
    request.watcher.onStage('streaming_turn');
    request.watcher.onTurn(turn);
    const text = turn === 1 ? prompt : continuationPrompt(turn, maxTurns);
    requireCompleted(await session.runTurn(text, signal));
    if (turn >= maxTurns || !session.remembersTurns) return;
    if (!(await isStillToBeDone(request, parts, signal))) return;
  }
}

function requireCompleted(result: TurnResult): void {
  switch (result.status) {
    case 'completed':
      return;
    case 'failed':
      throw result.error;
    case 'input_required':
      throw new BatonError('agent_input_required', `The agent asks: ${result.question}`);
    case 'cancelled':
      throw new BatonError('run_cancelled', 'The turn was cancelled.');
  }
}

/**
 * Looks at the issue between two turns. A tracker that does not answer ends the run well: the turn was completed, and the
 * look that follows every good run asks again.
 */
async function isStillToBeDone(request: RunRequest, parts: RunnerParts, signal: AbortSignal): Promise<boolean> {
  const { settings } = request.workflow;
  try {
    const fresh = await parts.readIssue(settings, request.issue.id, signal);
    return fresh !== null && whyNotRoutable(fresh, settings.tracker) === null;
  } catch (error) {
    parts.logger.warn('The issue could not be read between two turns; the run ends here.', {
      error,
      ...named(request),
    });
    return false;
  }
}

/** A stop explains whatever went wrong after it, except that the agent is still alive. */
function outcomeOf(reason: StopReason | null, error: BatonError | null, turns: number): RunOutcome {
  if (error?.code === 'agent_survives') return failed(error, turns);
  if (reason !== null) return stopOutcome(reason, turns);
  if (error?.code === 'claim_lost') return stopOutcome('claim_lost', turns);
  return error === null ? succeeded(turns) : failed(error, turns);
}

function succeeded(turns: number): RunOutcome {
  return { end: 'succeeded', turns };
}

function failed(error: BatonError, turns: number): RunOutcome {
  return { end: error.code === 'agent_turn_timeout' ? 'timed_out' : 'failed', turns, error };
}

function named(request: RunRequest): Record<string, unknown> {
  return { issue_id: request.issue.id, issue_identifier: request.issue.identifier, run_id: request.runId };
}
