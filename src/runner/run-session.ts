import type { Agent, AgentEvent, AgentSession, SessionRequest, TokenUsage } from '../agent/agent.ts';
import type { Chance } from '../clock/chance.ts';
import type { Clock } from '../clock/clock.ts';
import type { ReportedUsage } from '../core/account/token-cost.ts';
import type { ExistingChange, NewComments } from '../core/command/message-text.ts';
import { whyNotRoutable } from '../core/dispatch/eligibility.ts';
import type { Issue } from '../core/issue/issue.ts';
import type { Logger } from '../core/logger.ts';
import type { SchemaProblem } from '../core/pipeline/completion.ts';
import type { Opinion } from '../core/pull/judge.ts';
import { isJudge, onlyReads } from '../core/run/role.ts';
import type { GitEvidence } from '../core/run/run-evidence.ts';
import type { AccountSettings, Settings } from '../core/settings.ts';
import { countText, usdText } from '../core/text/amount-text.ts';
import { harmlessLine, variableValue } from '../core/text/harmless-line.ts';
import { createRedactor, secretsIn } from '../core/text/redact.ts';
import type { ToolHost, ToolSet } from '../core/tool-set.ts';
import type { Workspace, WorkspaceFacts } from '../workspace/workspace.ts';
import { askPerson } from './ask-person.ts';
import { hideFromTools, hideSecrets } from './hide-secrets.ts';
import type { RunCheckout, RunWorkspaces } from './judge-run.ts';
import { PhaseEnd, type PhaseTools, phaseNews } from './phase-run.ts';
import { planSession } from './plan-session.ts';
import { PlanEnd } from './planner-run.ts';
import { firstPrompt } from './prompts.ts';
import { runTurns, type WorkSoFar } from './run-turns.ts';
import type { RunRequest } from './runner.ts';
import { type Prove, SetupProof } from './setup-run.ts';
import type { Steering } from './steering.ts';
import { TaskEnd, type TaskTools } from './task-run.ts';
import { thinEvents } from './thin-events.ts';
import { type PersonWords, personEvent, promptEvents } from './transcript-events.ts';
import { TurnLimit } from './turn-limit.ts';

/** The dependencies of the runner, chosen by the settings of the workflow that the run began with. */
export interface RunnerParts {
  readonly agentFor: (settings: Settings, account: AccountSettings) => Agent;
  readonly workspacesFor: (settings: Settings) => RunWorkspaces;
  /** A clean checkout for a judge: of this commit, or of the base as it is now. Absent: there are no judges. */
  readonly checkoutFor?: (
    settings: Settings,
    at: { readonly commit: string; readonly baseCommit: string } | null,
    signal: AbortSignal,
  ) => Promise<RunCheckout>;
  /** Runs commands that an agent proposes in a clean checkout; absent: there is no setup. */
  readonly prove?: Prove;
  /** Why a text does not match the JSON schema of a phase; null: it does. Absent: no phase has one. */
  readonly schemaProblem?: SchemaProblem;
  readonly toolSetFor: (settings: Settings, run: ToolUser) => ToolSet;
  /** Where agents reach their tools over HTTP; null when there is no tool server. */
  readonly toolHost: ToolHost | null;
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

export interface ToolUser extends PhaseTools, TaskTools {
  readonly runId: string;
  readonly issueId: string;
  readonly onProgress: (text: string) => void;
  /** Absent where the backend sees the usage itself. */
  readonly onUsage?: (usage: ReportedUsage) => void;
  /** Absent unless `agent.after_success` is `review`. */
  readonly onPropose?: (proposal: { readonly title: string; readonly body: string }) => void;
  /** Only for a planner. */
  readonly onPlan?: RunRequest['plan'];
  /** Only for a judge. */
  readonly onOpinion?: (opinion: Opinion) => void;
  readonly onMove: (state: string | null) => void;
  readonly onNotMoved: () => void;
  /** As `SessionRequest.ask`. */
  readonly ask: SessionRequest['ask'];
  /** False when another daemon may have the issue by now. */
  readonly isStillOurs: () => boolean;
}

export interface RunParts {
  readonly request: RunRequest;
  readonly parts: RunnerParts;
  readonly logger: Logger;
  readonly steering: Steering;
  readonly signal: AbortSignal;
}

export interface SessionSetup {
  readonly workspaces: RunWorkspaces;
  readonly workspace: Workspace;
  readonly before: WorkspaceFacts | null;
  readonly whole: string;
  /** Encloses text of untrusted authors in the prompt. */
  readonly fenceMark: string;
  /** Null: they could not be read. */
  readonly comments: NewComments | null;
  /** The commit of a checkout of its own; null or absent: it has none. */
  readonly commit?: string | null;
}

/** The session, from opening its tools to the stop after which they are refused. */
export async function runSession(run: RunParts, setup: SessionSetup): Promise<void> {
  const { request, parts, logger, steering, signal } = run;
  const { workspaces, workspace, before, whole, fenceMark, comments } = setup;
  const { workflow, runId, report } = request;
  const limit = new TurnLimit(parts.clock, workflow.settings.agent.turnWallTimeMs);
  const over = new AbortController();
  let live: AgentSession | null = null;
  const pause = (): (() => void) => {
    const ends = [limit.pause(), live?.pauseSilence?.()];
    return () => {
      for (const end of ends) end?.();
    };
  };
  const ask = askPerson({
    ask: request.ask,
    over: AbortSignal.any([signal, over.signal]),
    pause,
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
  const phaseEnd = new PhaseEnd(request, workspaces, workspace.path, parts.schemaProblem);
  const planEnd = new PlanEnd(request);
  const sessionOver = AbortSignal.any([signal, over.signal]);
  const proof = new SetupProof(request, {
    prove: parts.prove,
    commit: setup.commit ?? null,
    pause,
    redactor,
    over: sessionOver,
  });
  const taskEnd = new TaskEnd(request.task, proof);
  let opinion: Opinion | null = null;
  const hear = (said: Opinion): void => {
    opinion = said;
    report({ kind: 'opinion', opinion: said });
  };
  const opened = parts.toolSetFor(workflow.settings, {
    runId,
    issueId: request.issue.id,
    ask,
    isStillOurs: request.isStillOurs,
    onProgress: (text) => logger.info('agent_progress', { progress: text }),
    ...(agent.usageByTool ? { onUsage: (used) => reportUsage(used, live?.pid ?? null) } : {}),
    ...wordsTaken(request, hear),
    ...phaseEnd.tools(),
    ...planEnd.tools(),
    ...taskEnd.tools(),
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
    const examine = async (publishes = false): Promise<WorkspaceFacts | null> => {
      const isQuiet = session.pid === null;
      const facts = await workspaces.examine(workspace.path, { publishes });
      last = isQuiet ? facts : null;
      return facts;
    };
    const examineLast = (): Promise<WorkspaceFacts | null> => examine(true);
    try {
      onInitializing();
      report({ kind: 'session', threadId: session.threadId });
      for (const answered of request.answers) reportWords({ kind: 'answer', ...answered });
      for (const { author, body } of request.messages)
        if (author.kind === 'person') reportWords({ kind: 'note', text: body });
      steering.join(session, (text) => reportWords({ kind: 'steer', text }));
      const { isResumed } = session;
      const said = steering.take();
      const prompt = firstPrompt({
        request,
        whole,
        phaseNews: phaseNews(request, fenceMark),
        isResumed,
        said,
        fenceMark,
        comments,
        change: changeIn(before),
      });
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
        readWork: async () => workIn((await examineLast())?.git ?? null, request.reviewed),
        isStillToBeDone,
        isDone: () => opinion !== null || phaseEnd.isDone() || planEnd.isDone() || taskEnd.isDone,
        continues: () => phaseEnd.reminder(),
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
        await phaseEnd.takeLeft();
        if (isReminded && workflow.settings.review.autoCommit) {
          last = null;
          await workspaces.commitRest(workspace, request);
        }
      } finally {
        const after = last ?? (await examineLast());
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
    await proof.closed();
  }
}

/** A judge says what it thinks of a change, and a worker proposes one where runs lead to review. */
function wordsTaken(
  { role, workflow, report }: RunRequest,
  onOpinion: (opinion: Opinion) => void,
): Pick<ToolUser, 'onOpinion' | 'onPropose'> {
  if (isJudge(role)) return { onOpinion };
  if (role !== 'worker' || workflow.settings.agent.afterSuccess !== 'review') return {};
  return { onPropose: (proposal) => report({ kind: 'proposed', ...proposal }) };
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
  const { issue, workflow, runId, role, phase, attempt, retryKind, isStillOurs, report } = request;
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
    isReadOnly: onlyReads(request.role),
    title: harmlessLine(`${issue.identifier}: ${issue.title}`),
    env: {
      BATON_ISSUE_ID: variableValue(issue.id),
      BATON_ISSUE_IDENTIFIER: variableValue(issue.identifier),
      BATON_WORKSPACE: workspace.path,
      ...(role === 'worker' ? {} : { BATON_ROLE: role }),
      ...(phase === null ? {} : { BATON_PHASE: phase.name }),
      ...(role === 'phase' && phase?.contract ? { BATON_ARTIFACT: phase.contract.artifact } : {}),
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

function changeIn(facts: WorkspaceFacts | null): ExistingChange | null {
  const { git = null, commits = [], base = null, baseReference = null, movedTo = null } = facts ?? {};
  if (git === null || (commits.length === 0 && movedTo === null)) return null;
  return { branch: git.branch, ahead: git.ahead, commits, base, baseReference, movedTo };
}

/**
 * Reads the issue between two turns. A tracker that does not answer ends the run well: the turn was completed, and the
 * retry that follows every successful run reads it again.
 */
async function isRoutable({ request, logger, signal }: RunParts): Promise<boolean> {
  const { settings } = request.workflow;
  try {
    const fresh = await request.readIssue(signal);
    if (fresh !== null && whyNotRoutable(fresh, settings.tracker, request.role) === null) return true;
    request.report({ kind: 'left', issue: fresh });
    return false;
  } catch (error) {
    if (!signal.aborted) logger.warn('issue_reread_failed', { error });
    return false;
  }
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
