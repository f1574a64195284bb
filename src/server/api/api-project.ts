import type { BoardColumns, BoardDetail, BoardImport, BoardIssues, ImportedIssues } from '../../client/schema/board.ts';
import type { CommandRequest } from '../../client/schema/command.ts';
import type { PruneReport } from '../../client/schema/prune.ts';
import type { Diff, RunEvent } from '../../client/schema/run.ts';
import type { StoreChange } from '../../client/schema/status.ts';
import type { Configuration, Health, Project, RequestReport, Salvage } from '../../client/schema/system.ts';
import type { WorkspaceReport } from '../../client/schema/workspace.ts';
import type { Author } from '../../core/issue/author.ts';
import type { BoardStatus } from '../../core/issue/board-status.ts';
import type { PromptName } from '../../core/prompt/choose-prompt.ts';
import type { PullRequest, PullRound } from '../../core/pull/pull-request.ts';
import type { PollingSettings, ReviewSettings, Settings } from '../../core/settings.ts';
import type { Explanation } from '../../orchestrator/view/explain.ts';
import type { ReadModel } from '../../orchestrator/view/read-model.ts';
import type { PullFacts } from '../../pulls/pull-requests.ts';
import type { StoreTables } from '../../store/store.ts';
import type { Command } from '../../store/tables/commands.ts';
import type { TranscriptReader } from '../../store/transcripts/transcript-files.ts';

/**
 * What the API reads from one project and may ask of it. The project belongs to a daemon, or comes from its store alone
 * while no daemon runs (`daemon/services/stored-project.ts`). What must hold: nothing here waits for the scheduler,
 * except `explain`, `prunable` and `workspaces`, which may read the tracker, and `submit`, which waits for an answer; only `submit`,
 * `poll`, `storeChanged` and the import of the board change anything.
 */
export interface ApiProject {
  readonly name: string;
  /** Its id in the store. */
  readonly id: string;
  readonly tables: Pick<
    StoreTables,
    | 'runs'
    | 'runEvents'
    | 'messages'
    | 'questions'
    | 'retries'
    | 'boardIssues'
    | 'boardHistory'
    | 'boardComments'
    | 'commands'
    | 'counters'
    | 'usage'
    | 'promptRuns'
    | 'jobTimers'
    | 'pullRequests'
    | 'checks'
    | 'verdicts'
    | 'phases'
    | 'completionClaims'
    | 'artifacts'
    | 'plans'
    | 'tasks'
    | 'learnings'
  >;
  readonly transcripts: TranscriptReader;
  /** The id under which the daemon stores its jobs; null when no daemon ever ran. */
  readonly owner: string | null;
  /** The HTTP address of the API; null when there is none. */
  readonly dashboardUrl: string | null;
  polling(): PollingSettings;
  /** The phases, and what decides how many runs an issue costs. */
  pipeline(): Pick<Settings, 'agent' | 'judge' | 'limits' | 'pipeline' | 'review'>;
  learner(): Settings['learner'];
  describe(): Project;
  /** The prompts that runs get now. */
  prompts(): readonly (PromptName & { readonly role: string; readonly share: number })[];
  /** The states to which a person may move an issue through Baton; empty when issues are moved in the tracker. */
  movesFrom(state: string): readonly { readonly to: string; readonly whyNot: string | null }[];
  /** The state of the project at this instant. */
  read(): ReadModel;
  /** Calls the watcher after each change of what `read` returns. Returns a function that stops watching. */
  watch(watcher: () => void): () => void;
  /**
   * Calls the watcher with each event of an agent when it is recorded. The event is built only when the watcher asks
   * for it.
   */
  watchRuns(watcher: (runId: string, event: () => RunEvent) => void): () => void;
  /** The number of the newest event of a run in progress, written or not; null for any other run. */
  lastSeqOf(runId: string): number | null;
  /** Calls the watcher with each changed issue of the board, whatever the author of the change. */
  watchIssues(watcher: (issue: { readonly id: string; readonly identifier: string }) => void): () => void;
  explain(issue: string): Promise<Explanation>;
  /** Polls the tracker as soon as possible; `isCoalesced` when a poll was already scheduled. */
  poll(): { readonly isCoalesced: boolean };
  /** Another program wrote to the store, or restored a backup into it. */
  storeChanged(change: StoreChange): void;
  /** Writes a command and waits a limited time for its answer. Rejects with `command_refused`. */
  submit(request: CommandRequest, author: Author): Promise<SubmittedCommand>;
  /** The command that opens the conversation of a run by hand; null when there is none. */
  resumeCommand(runId: string): Promise<string | null>;
  /** The changes in the workspace of an issue against its base. */
  diff(issueId: string): Promise<Diff>;
  readonly pulls: ApiPulls;
  configuration(): Configuration;
  health(): Health;
  requests(hours: number): Promise<RequestReport>;
  salvage(): Promise<Salvage>;
  /** Baton's own board. Throws `tracker_not_board` when the issues are in another tracker. */
  board(): ApiBoard;
  /** What is past its retention. May read the tracker; changes nothing. */
  prunable(): Promise<PruneReport>;
  /** The workspaces with their sizes, and why each is still there. Changes nothing. */
  workspaces(wanted: { readonly ignoresRetention: boolean }): Promise<WorkspaceReport>;
}

/** What the host of the pull requests says now; their records are in the store. */
export interface ApiPulls {
  /** How changes are checked and merged. */
  review(): Pick<ReviewSettings, 'checks' | 'mergeMethod'>;
  /** Null when the host cannot be read. */
  facts(pull: PullRequest, signal: AbortSignal): Promise<PullFacts | null>;
  /** Against its base, or since an earlier round. */
  diff(pull: PullRequest, since: PullRound | null): Promise<Diff>;
}

export interface ApiBoard {
  columns(limit: number): Promise<BoardColumns>;
  list(query: {
    readonly statuses: readonly BoardStatus[];
    readonly labels: readonly string[];
    readonly limit: number;
  }): Promise<BoardIssues>;
  show(issue: string): Promise<BoardDetail>;
  /** Refused for runs with `command_refused`. */
  import(file: BoardImport, author: Author): Promise<ImportedIssues>;
}

export interface SubmittedCommand {
  readonly command: Command;
  readonly facts: Readonly<Record<string, unknown>>;
}

/** The projects of this Baton. Projects may join and leave at any time. */
export interface ApiProjects {
  list(): readonly ApiProject[];
  find(name: string): ApiProject | null;
  /** Returns a function that removes the project again. */
  add(project: ApiProject): () => void;
  onChange(watcher: () => void): () => void;
  /** True while some projects are still starting: a reader would take them for removed. */
  readonly isStarting: boolean;
  /** Sets how many projects will be added; 1 by default. */
  expect(count: number): void;
  /** One of the expected projects cannot start for now. */
  startFailed(): void;
  /** Baton is stopping: projects leave because of that. */
  readonly isStopping: boolean;
}

export function createApiProjects(isStopping: () => boolean = () => false): ApiProjects {
  let awaited = 1;
  const projects = new Set<ApiProject>();
  const watchers = new Set<() => void>();
  const notify = (): void => {
    for (const watcher of watchers) watcher();
  };
  return {
    list: () => [...projects],
    find: (name) => [...projects].find((project) => project.name === name) ?? null,
    add: (project) => {
      projects.add(project);
      awaited = Math.max(0, awaited - 1);
      notify();
      return () => {
        projects.delete(project);
        notify();
      };
    },
    onChange: (watcher) => {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
    get isStarting() {
      return awaited > 0;
    },
    expect: (count) => {
      awaited = count;
    },
    startFailed: () => {
      awaited = Math.max(0, awaited - 1);
    },
    get isStopping() {
      return isStopping();
    },
  };
}
