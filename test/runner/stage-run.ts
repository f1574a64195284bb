import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import type { AgentEvent, AgentProcess, SessionRequest } from '../../src/agent/agent.ts';
import { createCommandAgent } from '../../src/agent/command/command-agent.ts';
import { commandOf } from '../../src/agent/command/command-backend.ts';
import type { AgentParts } from '../../src/agent/launch-agent.ts';
import { createRehearsalAgent } from '../../src/agent/rehearsal/rehearsal-agent.ts';
import { systemChance } from '../../src/clock/system-chance.ts';
import { systemClock } from '../../src/clock/system-clock.ts';
import type { Message } from '../../src/core/command/message.ts';
import type { Issue } from '../../src/core/issue/issue.ts';
import type { RunOutcome, RunStage } from '../../src/core/run/run.ts';
import type { Publication } from '../../src/core/run/run-evidence.ts';
import type { AccountSettings, HookSettings, TrackerSettings, WorkspaceSettings } from '../../src/core/settings.ts';
import type { ToolHost } from '../../src/core/tool-set.ts';
import type { PromptInput } from '../../src/core/workflow.ts';
import { listMarkedProcesses } from '../../src/process/containment/marked-processes.ts';
import { createRunner } from '../../src/runner/run-issue.ts';
import type { LiveRun, RunFact, RunRequest } from '../../src/runner/runner.ts';
import { openToolSet } from '../../src/tools/registry.ts';
import { MemoryTracker } from '../../src/tracker/memory/memory-tracker.ts';
import { createLocalWorkspaces } from '../../src/workspace/local-workspaces.ts';
import type { WorkspaceFacts } from '../../src/workspace/workspace.ts';
import { createWorkspaceResources } from '../../src/workspace/workspace-resources.ts';
import { builtProgram } from '../built-baton.ts';
import { issue as someIssue } from '../fake/issues.ts';
import { memoryLogger } from '../fake/memory-logger.ts';
import { type SettingChanges, settings as someSettings } from '../fake/settings.ts';

export interface Staging {
  readonly agent?: SettingChanges['agent'];
  readonly tracker?: Partial<TrackerSettings>;
  readonly hooks?: Partial<HookSettings>;
  readonly workspace?: Partial<WorkspaceSettings>;
  readonly issue?: Partial<Issue>;
  /** What differs in the request of the run. */
  readonly request?: Partial<RunRequest>;
  readonly account?: Partial<AccountSettings>;
  /** Where the stand-in keeps its threads; without it none can be gone on with. */
  readonly rehearsalHome?: string;
  readonly toolHost?: ToolHost;
  /** What the program of the agent has and may not tell, beside its account. */
  readonly agentSecrets?: readonly string[];
  /** Sees what the agent is asked for, on its way. */
  readonly onSessionRequest?: (request: SessionRequest) => void;
  readonly renderPrompt?: (input: PromptInput) => string;
  readonly renderBranch?: (issue: Issue) => string;
  /** Takes the place of the tracker's answer between two turns. */
  readonly readIssue?: (signal: AbortSignal) => Promise<Issue | null>;
  /** Hears of each fact after it was noted. */
  readonly report?: (fact: RunFact) => void;
}

/** What became of a run, and what it told on the way. */
export interface StagedRun {
  readonly run: LiveRun;
  readonly runId: string;
  readonly stages: RunStage[];
  readonly turns: number[];
  readonly events: AgentEvent[];
  /** The last words of turns. */
  readonly messages: string[];
  /** What its sessions were asked, turn by turn. */
  readonly prompts: string[];
  /** The names of its conversations. */
  readonly threads: (string | null)[];
  readonly processes: AgentProcess[];
  /** What was told of the process, of changes and of the branch, in its order. */
  readonly told: string[];
  /** What was told of the workspace after the session. */
  readonly facts: (WorkspaceFacts | null)[];
  /** What was told of its branch. */
  readonly deliveries: Publication[];
  readonly tracker: MemoryTracker;
  readonly logger: ReturnType<typeof memoryLogger>;
  /** Where it is, or will be. */
  readonly workspace: string;
  /** The lines that the hooks wrote into `../hooks.log`. */
  hookLines(): string[];
  /** A file of the workspace; null when it is not there. */
  file(name: string): string | null;
  /** The outcome, after a look that nothing of the run is left. */
  end(): Promise<RunOutcome & { readonly left: number }>;
}

/** A prompt that the rehearsal agent acts out. */
export function script(...lines: string[]): string {
  return ['```rehearsal', ...lines, '```'].join('\n');
}

/** Starts a run on the real workspaces, the real agents and the real memory tracker. */
export function stageRun(prompt: string, staging: Staging = {}): StagedRun {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'baton-runner-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const root = path.join(folder, 'workspaces');
  const settings = someSettings({
    agent: staging.agent ?? {},
    tracker: staging.tracker ?? {},
    workspace: { root, copyFrom: folder, ...staging.workspace },
  });
  const issue = someIssue({ id: 'id-1', identifier: 'T-1', state: 'In Progress', ...staging.issue });
  const tracker = new MemoryTracker({ issues: [issue], states: ['Todo', 'In Progress', 'Done'], clock: systemClock });
  const logger = memoryLogger();
  const parts: AgentParts = {
    clock: systemClock,
    containment: 'marker_sweep',
    daemonId: systemChance.id(),
    daemonEnv: { PATH: process.env.PATH, HOME: folder },
    allowEnv: [],
    accountEnv: staging.rehearsalHome === undefined ? {} : { BATON_REHEARSAL_HOME: staging.rehearsalHome },
    denyEnv: [],
  };
  const resources = createWorkspaceResources({ ...parts, stateDir: path.join(folder, 'state') });
  const prompts: string[] = [];
  const runner = createRunner({
    logger,
    clock: systemClock,
    chance: systemChance,
    toolHost: staging.toolHost ?? null,
    agentFor: (now) => {
      const { backend, turnTimeoutMs } = now.agent;
      const agent =
        backend === 'command'
          ? createCommandAgent({ command: commandOf(now) ?? '', turnTimeoutMs }, parts)
          : createRehearsalAgent(
              {
                nodePath: process.execPath,
                program: builtProgram('agent/rehearsal/program'),
                readTimeoutMs: 30_000,
                turnTimeoutMs,
              },
              parts,
            );
      return {
        ...agent,
        secrets: staging.agentSecrets ?? [],
        startSession: async (request) => {
          staging.onSessionRequest?.(request);
          const session = await agent.startSession(request);
          const runTurn = session.runTurn.bind(session);
          session.runTurn = (prompt, signal) => {
            prompts.push(prompt);
            return runTurn(prompt, signal);
          };
          return session;
        },
      };
    },
    workspacesFor: ({ hooks, workspace }) =>
      createLocalWorkspaces({
        ...parts,
        project: 'stage',
        settings: { ...workspace, root },
        hooks: { ...hooks, ...staging.hooks },
        secretEnvironment: [],
        resources,
        restoreCommand: (name) => `baton salvage restore ${name}`,
        logger,
      }),
    toolSetFor: (_settings, run) => openToolSet({ ...run, tracker, clock: systemClock }),
  });
  const told = nothingTold();
  const runId = systemChance.id();
  const run = runner.start({
    runId,
    issue,
    judged: null,
    learnings: [],
    task: null,
    role: 'worker',
    phase: null,
    complete: async () => [],
    planner: null,
    plan: async () => ({ made: [] }),
    parts: [],
    workflow: {
      path: '/WORKFLOW.md',
      revision: '1',
      settings,
      renderPrompt: staging.renderPrompt ?? (() => prompt),
      promptOf: () => ({ version: 'v1', source: 'test' }),
      renderBranch: staging.renderBranch ?? (({ identifier }) => `baton/${identifier}`),
    },
    attempt: null,
    retryKind: null,
    threadId: null,
    account: { name: 'default', backend: settings.agent.backend, env: {}, home: null, ...staging.account },
    recovery: null,
    answers: [],
    answersBefore: [],
    messages: [],
    commentsSince: null,
    reviewed: [],
    into: null,
    earlier: null,
    ask: async () => null,
    isStillOurs: () => true,
    readIssue: staging.readIssue ?? (async (signal) => (await tracker.fetchByIds([issue.id], { signal }))[0] ?? null),
    ...staging.request,
    report: (fact) => {
      keep(told, fact);
      staging.report?.(fact);
    },
  });
  onTestFinished(async () => {
    run.stop('shutdown');
    await run.outcome;
  });
  const read = (file: string): string | null => (existsSync(file) ? readFileSync(file, 'utf8') : null);
  return {
    ...told,
    prompts,
    run,
    runId,
    tracker,
    logger,
    workspace: path.join(root, 'T-1'),
    hookLines: () => (read(path.join(root, 'hooks.log')) ?? '').split('\n').filter(Boolean),
    file: (name) => read(path.join(root, 'T-1', name)),
    end: async () => {
      const outcome = await run.outcome;
      const marked = await listMarkedProcesses({ clock: systemClock });
      return { ...outcome, left: marked.filter((each) => each.runId === runId).length };
    },
  };
}

/** What a person leaves for the next agent. */
export function note(body: string): Message {
  const author = { kind: 'person', name: 'ann' } as const;
  return { id: body, at: 0, kind: 'note', author, body, path: null, line: null, commit: null };
}

/** Hooks that leave a trace of having run. */
export const tracedHooks = {
  afterCreate: 'echo after_create >> ../hooks.log',
  beforeRun: 'echo before_run >> ../hooks.log',
  afterRun: 'echo after_run >> ../hooks.log',
} as const satisfies Partial<HookSettings>;

function nothingTold() {
  return {
    stages: [] as RunStage[],
    turns: [] as number[],
    events: [] as AgentEvent[],
    messages: [] as string[],
    threads: [] as (string | null)[],
    processes: [] as AgentProcess[],
    told: [] as string[],
    facts: [] as (WorkspaceFacts | null)[],
    deliveries: [] as Publication[],
  };
}

function keep(told: ReturnType<typeof nothingTold>, fact: RunFact): void {
  if (fact.kind === 'stage') told.stages.push(fact.stage);
  if (fact.kind === 'turn') told.turns.push(fact.turn);
  if (fact.kind === 'event') told.events.push(fact.event);
  if (fact.kind === 'message') told.messages.push(fact.text);
  if (fact.kind === 'session') told.threads.push(fact.threadId);
  if (fact.kind === 'prompt_delivered') told.told.push('prompt delivered');
  if (fact.kind === 'process') {
    if (fact.process !== null) told.processes.push(fact.process);
    told.told.push(fact.process === null ? 'process ended' : 'process');
  }
  if (fact.kind === 'changed') {
    told.told.push(`changed: ${fact.changed}`);
    told.facts.push(fact.facts);
  }
  if (fact.kind === 'published') {
    told.told.push(`publication: ${fact.publication.outcome}`);
    told.deliveries.push(fact.publication);
  }
}
