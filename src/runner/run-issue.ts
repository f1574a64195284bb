import type { Agent, AgentEvent, AgentSession, SessionRequest, TokenUsage } from '../agent/agent.ts';
import type { Chance } from '../clock/chance.ts';
import type { Clock } from '../clock/clock.ts';
import type { ReportedUsage } from '../core/account/token-cost.ts';
import { type BatonError, toBatonError } from '../core/baton-error.ts';
import type { ExistingChange, NewComments } from '../core/command/message-text.ts';
import { whyNotRoutable } from '../core/dispatch/eligibility.ts';
import type { Issue } from '../core/issue/issue.ts';
import type { Logger } from '../core/logger.ts';
import { lastStage, type RunOutcome, type StopReason } from '../core/run/run.ts';
import type { GitEvidence } from '../core/run/run-evidence.ts';
import { stopOutcome } from '../core/run/stop-outcome.ts';
import type { AccountSettings, Settings } from '../core/settings.ts';
import { countText, usdText } from '../core/text/amount-text.ts';
import { harmlessLine, variableValue } from '../core/text/harmless-line.ts';
import { createRedactor, secretsIn } from '../core/text/redact.ts';
import type { ToolHost, ToolSet } from '../core/tool-set.ts';
import type { Workspace, WorkspaceFacts, Workspaces, WorkspaceVisit } from '../workspace/workspace.ts';
import { askPerson } from './ask-person.ts';
import { hideFromTools, hideSecrets } from './hide-secrets.ts';
import { planSession } from './plan-session.ts';
import { firstPrompt } from './prompts.ts';
import { runTurns, type WorkSoFar } from './run-turns.ts';
import type { LiveRun, RunFact, Runner, RunRequest } from './runner.ts';
import { Steering } from './steering.ts';
import { thinEvents } from './thin-events.ts';
import { type PersonWords, personEvent, promptEvents } from './transcript-events.ts';
import { TurnLimit } from './turn-limit.ts';

/** The dependencies of the runner, chosen by the settings of the workflow that the run began with. */
export interface RunnerParts {
  readonly agentFor: (settings: Settings, account: AccountSettings) => Agent;
  readonly workspacesFor: (settings: Settings) => Workspaces;
  readonly toolSetFor: (settings: Settings, run: ToolUser) => ToolSet;
  /** Where agents reach their tools over HTTP; null when there is no tool server. */
  readonly toolHost: ToolHost | null;
  /** Reads the issue from the tracker now; null when it is gone. */
  readonly readIssue: (settings: Settings, id: string, signal: AbortSignal) => Promise<Issue | null>;
  /** The issue without authors where others wrote in it too; absent: as it is. Never rejects, unless it is aborted. */
  readonly vouched?: (settings: Settings, issue: Issue, signal: AbortSignal) => Promise<Issue>;
  /** The comments of people on an issue since then; absent: there are none. */
  readonly readComments?: (
    settings: Settings,
    about: { readonly issueId: string; readonly since: number },
    signal: AbortSignal,
  ) => Promise<NewComments>;
  readonly clock: Clock;
  readonly chance: Chance;
  readonly logger: Logger;
}

export interface ToolUser {
  readonly runId: string;
  readonly issueId: string;
  readonly onProgress: (text: string) => void;
  /** Absent where the backend sees the usage itself. */
  readonly onUsage?: (usage: ReportedUsage) => void;
  /** Absent unless `agent.after_success` is `review`. */
  readonly onPropose?: (proposal: { readonly title: string; readonly body: string }) => void;
  readonly onMove: (state: string | null) => void;
  readonly onNotMoved: () => void;
  /** As `SessionRequest.ask`. */
  readonly ask: SessionRequest['ask'];
  /** False when another daemon may have the issue by now. */
  readonly isStillOurs: () => boolean;
}

export function createRunner(parts: RunnerParts): Runner {
  return { start: (request) => startRun(request, parts) };
}

function startRun(request: RunRequest, parts: RunnerParts): LiveRun {
  const stop = new AbortController();
  const steering = new Steering();
  const { issue, runId } = request;
  const logger = parts.logger.child({ issue_id: issue.id, issue_identifier: issue.identifier, run_id: runId });
  let reason: StopReason | null = null;
  let turns = 0;
  // A listener that throws must not break the run or keep its agent alive.
  const report = (fact: RunFact): void => {
    if (fact.kind === 'turn') turns = fact.turn;
    try {
      request.report(fact);
    } catch (error) {
      logger.error('run_watcher_failed', { error });
    }
  };
  const endSteering = (): void => {
    const undelivered = steering.close().length;
    if (undelivered > 0) logger.warn('message_not_delivered', { texts: undelivered });
  };
  const conclude = (error: BatonError | null): RunOutcome => {
    endSteering();
    const outcome = outcomeOf(reason, error, turns);
    report({ kind: 'stage', stage: lastStage(outcome.end) });
    return outcome;
  };
  return {
    outcome: runIssue({ request: { ...request, report }, parts, logger, steering, signal: stop.signal }).then(
      () => conclude(null),
      (thrown) => conclude(toBatonError(thrown)),
    ),
    steer: (text) => steering.steer(text),
    canHear: () => steering.canHear,
    stop: (why) => {
      reason ??= why;
      endSteering();
      stop.abort();
    },
  };
}

interface RunParts {
  readonly request: RunRequest;
  readonly parts: RunnerParts;
  readonly logger: Logger;
  readonly steering: Steering;
  readonly signal: AbortSignal;
}

/** One run from its first stage to its last; rejects with the error of the stage that failed. */
async function runIssue(run: RunParts): Promise<void> {
  const { request, parts, signal } = run;
  const { workflow, runId, attempt, report } = request;
  const issue = (await parts.vouched?.(workflow.settings, request.issue, signal)) ?? request.issue;
  const workspaces = parts.workspacesFor(workflow.settings);
  report({ kind: 'stage', stage: 'preparing_workspace' });
  const visit: WorkspaceVisit = { issue, runId, attempt, branch: workflow.renderBranch(issue), signal };
  const workspace = await workspaces.prepare(visit);
  report({ kind: 'workspace', path: workspace.path });
  try {
    signal.throwIfAborted();
    await workspaces.beforeRun(workspace, visit);
    const comments = await newComments(run);
    // Read after the hook, whose changes are not the agent's.
    const before = await workspaces.examine(workspace.path, isAddressed(request, comments) ? { commits: 20 } : {});
    report({ kind: 'stage', stage: 'building_prompt' });
    // Rendered before the launch: a mistake in the template must not start an agent (row 1.5 of the reference).
    const { retryKind } = request;
    const fenceMark = parts.chance.id();
    const whole = workflow.renderPrompt({ issue, attempt, retryKind, fenceMark });
    await workspaces.verify(workspace, visit);
    signal.throwIfAborted();
    report({ kind: 'stage', stage: 'launching_agent_process' });
    await runSession(run, { workspaces, workspace, before, whole, fenceMark, comments });
  } finally {
    const { signal: _stopsTheRunButNotTheHook, ...lastVisit } = visit;
    const publication = await workspaces.afterRun(workspace, lastVisit);
    if (publication !== null) report({ kind: 'published', publication });
  }
}

interface SessionSetup {
  readonly workspaces: Workspaces;
  readonly workspace: Workspace;
  readonly before: WorkspaceFacts | null;
  readonly whole: string;
  /** Encloses text of untrusted authors in the prompt. */
  readonly fenceMark: string;
  /** Null: they could not be read. */
  readonly comments: NewComments | null;
}

/** The session, from opening its tools to the stop after which they are refused. */
async function runSession(run: RunParts, setup: SessionSetup): Promise<void> {
  const { request, parts, logger, steering, signal } = run;
  const { workspaces, workspace, before, whole, fenceMark, comments } = setup;
  const { workflow, runId, report } = request;
  const limit = new TurnLimit(parts.clock, workflow.settings.agent.turnWallTimeMs);
  const over = new AbortController();
  let live: AgentSession | null = null;
  const ask = askPerson({
    ask: request.ask,
    over: AbortSignal.any([signal, over.signal]),
    pause: () => {
      const ends = [limit.pause(), live?.pauseSilence?.()];
      return () => {
        for (const end of ends) end?.();
      };
    },
    onAnswer: (question, answer) => {
      steering.hear();
      reportWords({ kind: 'answer', question, answer });
    },
    logger,
  });
  const agent = parts.agentFor(workflow.settings, request.account);
  const redactor = createRedactor([...secretsIn([workflow.settings, request.account]), ...(agent.secrets ?? [])]);
  const reportWords = (words: PersonWords): void =>
    report({ kind: 'event', event: personEvent(words, parts.clock.now(), redactor) });
  const reportUsage = (used: ReportedUsage, pid: number | null): void => {
    const usage = { ...used, totalTokens: used.inputTokens + used.outputTokens };
    const event = { name: 'notification', at: parts.clock.now(), pid, summary: usageText(usage), usage } as const;
    report({ kind: 'event', event });
  };
  const opened = parts.toolSetFor(workflow.settings, {
    runId,
    issueId: request.issue.id,
    ask,
    isStillOurs: request.isStillOurs,
    onProgress: (text) => logger.info('agent_progress', { progress: text }),
    ...(agent.usageByTool ? { onUsage: (used) => reportUsage(used, live?.pid ?? null) } : {}),
    ...(workflow.settings.agent.afterSuccess === 'review'
      ? { onPropose: (proposal) => report({ kind: 'proposed', ...proposal }) }
      : {}),
    onMove: (state) => report({ kind: 'moved', to: state }),
    onNotMoved: () => report({ kind: 'not_moved' }),
  });
  const tools = hideFromTools(opened, redactor);
  // Some backends have a process from the start, others only in a turn: the stage is reported once, before the first
  // turn.
  const onInitializing = once(() => report({ kind: 'stage', stage: 'initializing_session' }));
  try {
    const toolAddress = parts.toolHost?.admit(runId, tools) ?? null;
    if (toolAddress !== null) redactor.also(toolAddress.token);
    const careful = hideSecrets(agent, redactor);
    const session = await startSession(run, careful, {
      workspace,
      ask,
      tools,
      toolAddress,
      onInitializing,
      onFirstTurn: () => report({ kind: 'prompt_delivered', hasComments: comments !== null }),
    });
    live = session;
    let isReminded = false;
    // What the work came to, where no process of the agent has run since.
    let last: WorkspaceFacts | null = null;
    const examine = async (): Promise<WorkspaceFacts | null> => {
      const isQuiet = session.pid === null;
      const facts = await workspaces.examine(workspace.path);
      last = isQuiet ? facts : null;
      return facts;
    };
    try {
      onInitializing();
      report({ kind: 'session', threadId: session.threadId });
      for (const answered of request.answers) reportWords({ kind: 'answer', ...answered });
      for (const { author, body } of request.messages)
        if (author.kind === 'person') reportWords({ kind: 'note', text: body });
      steering.join(session, (text) => reportWords({ kind: 'steer', text }));
      const { isResumed } = session;
      const said = steering.take();
      const prompt = firstPrompt({ request, whole, isResumed, said, fenceMark, comments, change: changeIn(before) });
      const isStillToBeDone = (): Promise<boolean> => isRoutable(run);
      const fingerprint = before?.fingerprint ?? null;
      isReminded = await runTurns({
        request,
        session,
        prompt,
        steering,
        limit,
        ask,
        signal,
        fingerprint,
        readFingerprint: async () => (await examine())?.fingerprint ?? null,
        readWork: async () => workIn((await examine())?.git ?? null, request.reviewed),
        isStillToBeDone,
        onPrompt: (turn, text) => {
          last = null;
          const { clock } = parts;
          const { pid } = session;
          for (const event of promptEvents({ turn, text, fenceMark, redactor, at: clock.now(), pid }))
            report({ kind: 'event', event });
        },
      });
    } finally {
      report({ kind: 'stage', stage: 'finishing' });
      try {
        over.abort();
        await session.stop();
        if (isReminded && workflow.settings.review.autoCommit) {
          last = null;
          await workspaces.commitRest(workspace, request);
        }
      } finally {
        const after = last ?? (await examine());
        const isSeen = before !== null && after !== null;
        const changed = isSeen ? before.fingerprint !== after.fingerprint : null;
        const heads = [before?.git?.head, after?.git?.head] as const;
        const committed = isSeen && after.git !== null ? { committed: heads[0] !== heads[1] } : {};
        report({ kind: 'changed', changed, facts: after, ...committed });
      }
    }
  } finally {
    over.abort();
    parts.toolHost?.dismiss(runId);
  }
}

function workIn(git: GitEvidence | null, reviewed: readonly string[]): WorkSoFar {
  if (git === null) return 'none';
  if (git.changed + git.untracked + git.conflicts > 0) return 'uncommitted';
  const isNew = git.head !== null && !reviewed.includes(git.head);
  return isNew && (git.ahead ?? 0) > 0 ? 'committed' : 'none';
}

interface SessionStart extends Pick<SessionRequest, 'ask' | 'tools' | 'toolAddress'> {
  readonly workspace: Workspace;
  readonly onInitializing: () => void;
  readonly onFirstTurn: () => void;
}

function startSession({ request, signal }: RunParts, agent: Agent, start: SessionStart): Promise<AgentSession> {
  const { issue, workflow, runId, attempt, retryKind, isStillOurs, report } = request;
  const { workspace, onInitializing, ask, tools, toolAddress } = start;
  const onFirstTurn = once(start.onFirstTurn);
  const onEvent = (event: AgentEvent): void => {
    if (event.name === 'turn_started') onFirstTurn();
    report({ kind: 'event', event });
  };
  return agent.startSession({
    runId,
    isStillOurs,
    ask,
    tools,
    toolAddress,
    signal,
    ...planSession(request.threadId, request.recovery, workflow.settings.agent.contextRecovery, request.retryKind),
    workspace: workspace.path,
    writableRoots: workspace.gitDir === null ? [] : [workspace.gitDir],
    title: harmlessLine(`${issue.identifier}: ${issue.title}`),
    env: {
      BATON_ISSUE_ID: variableValue(issue.id),
      BATON_ISSUE_IDENTIFIER: variableValue(issue.identifier),
      BATON_WORKSPACE: workspace.path,
      ...(attempt === null ? {} : { BATON_ATTEMPT: String(attempt) }),
      ...(retryKind === null ? {} : { BATON_RETRY_KIND: retryKind }),
    },
    onProcess: (process) => {
      report({ kind: 'process', process });
      onInitializing();
    },
    onEvent: thinEvents(onEvent),
  });
}

const noComments: NewComments = { comments: [], hasEarlier: false };

/** With one read, and only after an earlier run. Null: it failed, and the run does without; the next one reads them. */
async function newComments({ request, parts, logger, signal }: RunParts): Promise<NewComments | null> {
  const { commentsSince: since, issue, workflow } = request;
  if (since === null || parts.readComments === undefined) return noComments;
  try {
    return await parts.readComments(workflow.settings, { issueId: issue.id, since }, signal);
  } catch (error) {
    signal.throwIfAborted();
    logger.warn('comments_unread', { error });
    return null;
  }
}

/** Whether the agent hears something about earlier work. Then it also hears of the commits that exist. */
function isAddressed({ messages, retryKind }: RunRequest, comments: NewComments | null): boolean {
  if (retryKind === 'revision') return true;
  return messages.length > 0 || comments === null || comments.comments.length > 0;
}

function changeIn(facts: WorkspaceFacts | null): ExistingChange | null {
  const { git = null, commits = [], base = null, movedTo = null } = facts ?? {};
  if (git === null || (commits.length === 0 && movedTo === null)) return null;
  return { branch: git.branch, ahead: git.ahead, commits, base, movedTo };
}

/**
 * Reads the issue between two turns. A tracker that does not answer ends the run well: the turn was completed, and the
 * retry that follows every successful run reads it again.
 */
async function isRoutable({ request, parts, logger, signal }: RunParts): Promise<boolean> {
  const { settings } = request.workflow;
  try {
    const fresh = await parts.readIssue(settings, request.issue.id, signal);
    if (fresh !== null && whyNotRoutable(fresh, settings.tracker) === null) return true;
    request.report({ kind: 'left', issue: fresh });
    return false;
  } catch (error) {
    logger.warn('issue_reread_failed', { error });
    return false;
  }
}

/** An error after a stop is caused by the stop, except that the agent is still alive. */
function outcomeOf(reason: StopReason | null, error: BatonError | null, turns: number): RunOutcome {
  const survives = error?.code === 'agent_survives';
  if (reason !== null && !survives) return stopOutcome(reason, turns);
  if (error === null) return { end: 'succeeded', turns };
  if (error.code === 'claim_lost') return stopOutcome('claim_lost', turns);
  return { end: error.code === 'agent_turn_timeout' ? 'timed_out' : 'failed', turns, error };
}

function usageText({ totalTokens, costMicroUsd }: TokenUsage): string {
  const cost = costMicroUsd === undefined ? '' : ` and ${usdText(costMicroUsd / 1_000_000)}`;
  return `reports ${countText(totalTokens)} tokens${cost} so far`;
}

function once(act: () => void): () => void {
  let isDone = false;
  return () => {
    if (!isDone) act();
    isDone = true;
  };
}
