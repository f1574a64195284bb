import type { CommandRequest } from '../../client/schema/command.ts';
import type { Diff, RunEvent } from '../../client/schema/run.ts';
import type { StoreChange } from '../../client/schema/status.ts';
import type { Configuration, Health, Project, RequestReport, Salvage } from '../../client/schema/system.ts';
import type { Author } from '../../core/issue/author.ts';
import type { PollingSettings } from '../../core/settings.ts';
import type { Explanation } from '../../orchestrator/view/explain.ts';
import type { ReadModel } from '../../orchestrator/view/read-model.ts';
import type { StoreTables } from '../../store/store.ts';
import type { Command } from '../../store/tables/commands.ts';
import type { TranscriptReader } from '../../store/transcripts/transcript-files.ts';

/**
 * What the API knows of one project and may ask of it: of a daemon, or of its store alone while none runs
 * (`daemon/services/stored-project.ts`). What must hold: nothing here waits for the scheduler, but for `explain`, which may
 * read the tracker, and `submit`, which waits for an answer; and nothing but `submit`, `poll` and `storeChanged` changes
 * anything.
 */
export interface ApiProject {
  readonly name: string;
  /** Its id in the store. */
  readonly id: string;
  readonly tables: Pick<
    StoreTables,
    | 'runs'
    | 'runEvents'
    | 'questions'
    | 'retries'
    | 'boardIssues'
    | 'boardHistory'
    | 'boardComments'
    | 'commands'
    | 'usage'
    | 'jobTimers'
  >;
  readonly transcripts: TranscriptReader;
  /** Under which id the daemon keeps its jobs in the store; null where no daemon ever was. */
  readonly owner: string | null;
  /** Where the API is reached over HTTP; null where it is not. */
  readonly dashboardUrl: string | null;
  polling(): PollingSettings;
  describe(): Project;
  /** Where a person may move an issue from this state through Baton; none where that is done in the tracker. */
  movesFrom(state: string): readonly { readonly to: string; readonly whyNot: string | null }[];
  /** What is going on, at this instant. */
  read(): ReadModel;
  /** Calls the watcher after each change of what `read` gives; gives what ends that. */
  watch(watcher: () => void): () => void;
  /** Calls the watcher with what agents do, as it is noted; the event is made for those who want it. */
  watchRuns(watcher: (runId: string, event: () => RunEvent) => void): () => void;
  /** The number of the newest event of a run in progress, written or not; null for any other run. */
  lastSeqOf(runId: string): number | null;
  /** Calls the watcher with each issue of the board that was changed, by whomever. */
  watchIssues(watcher: (issue: { readonly id: string; readonly identifier: string }) => void): () => void;
  explain(issue: string): Promise<Explanation>;
  /** Looks at the tracker as soon as may be; whether such a look was on its way already. */
  poll(): { readonly isCoalesced: boolean };
  /** Another program wrote to the store, or restored a backup into it. */
  storeChanged(change: StoreChange): void;
  /** Writes a command and waits for its answer for a while. Rejects with `command_refused`. */
  submit(request: CommandRequest, author: Author): Promise<SubmittedCommand>;
  /** The command that opens the conversation of a run by hand; null where there is none. */
  resumeCommand(runId: string): Promise<string | null>;
  /** What the workspace of an issue has beyond its base. */
  diff(issueId: string): Promise<Diff>;
  configuration(): Configuration;
  health(): Health;
  requests(hours: number): Promise<RequestReport>;
  salvage(): Promise<Salvage>;
}

export interface SubmittedCommand {
  readonly command: Command;
  readonly facts: Readonly<Record<string, unknown>>;
}

/** The projects of this Baton, which come and go. */
export interface ApiProjects {
  list(): readonly ApiProject[];
  find(name: string): ApiProject | null;
  /** Gives what takes it away again. */
  add(project: ApiProject): () => void;
  onChange(watcher: () => void): () => void;
  /** Some are still on their way: who looks now would take them for gone. */
  readonly isStarting: boolean;
  /** So many will come; one, unless told otherwise. */
  expect(count: number): void;
  /** One of them cannot come for now. */
  cannotCome(): void;
}

export function createApiProjects(): ApiProjects {
  let awaited = 1;
  const projects = new Set<ApiProject>();
  const watchers = new Set<() => void>();
  const tell = (): void => {
    for (const watcher of watchers) watcher();
  };
  return {
    list: () => [...projects],
    find: (name) => [...projects].find((project) => project.name === name) ?? null,
    add: (project) => {
      projects.add(project);
      awaited = Math.max(0, awaited - 1);
      tell();
      return () => {
        projects.delete(project);
        tell();
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
    cannotCome: () => {
      awaited = Math.max(0, awaited - 1);
    },
  };
}
