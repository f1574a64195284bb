import type { Chance } from '../../clock/chance.ts';
import type { Clock } from '../../clock/clock.ts';
import type { BatonError } from '../../core/baton-error.ts';
import type { ApiProject } from '../../server/api/api-project.ts';
import type { Store } from '../../store/store.ts';
import type { TranscriptReader } from '../../store/transcripts/transcript-files.ts';
import type { Board } from '../../tracker/board/board.ts';
import type { IssueEditor, Tracker } from '../../tracker/tracker.ts';
import type { LoadedWorkflow } from '../../workflow/load-workflow.ts';
import type { Remote } from '../remote.ts';
import type { Surroundings } from '../surroundings.ts';
import { boardService } from './board-service.ts';
import { configurationReport, describeProject } from './describe-project.ts';
import { requestReport } from './request-report.ts';
import { resumeLine, type SubmitParts, submitCommand } from './submit-command.ts';
import { workspaceReport } from './workspace-report.ts';

export interface StoredParts {
  readonly workflow: () => { readonly workflow: LoadedWorkflow; readonly problem: BatonError | null };
  readonly store: Store;
  /** The project's id in the store. */
  readonly project: string;
  readonly transcripts: TranscriptReader;
  readonly remote: Pick<Remote, 'views'>;
  readonly stateDir: string;
  readonly version: string;
  readonly clock: Clock;
  readonly chance: Chance;
  readonly carryOut: SubmitParts['carryOut'];
  readonly tracker: () => Tracker;
  /** Baton's own board; throws `tracker_not_board` for another tracker. */
  readonly board: () => Board;
  readonly surroundings: Pick<Surroundings, 'adapters' | 'hostName'>;
  /** How long a command may take; for a daemon a default. */
  readonly answerMs?: number;
}

/** What the workflow file and the store say of a project, with or without a daemon. */
export function storedPart(parts: StoredParts) {
  const { store, project, remote, version, clock } = parts;
  const loaded = (): LoadedWorkflow => parts.workflow().workflow;
  const editor = (): IssueEditor | null => parts.tracker().editor ?? null;
  const submitting = { ...parts, settings: () => loaded().settings };
  // A daemon keeps the name that it was started with.
  const { name } = loaded().settings.project;
  return {
    name,
    id: project,
    tables: store,
    transcripts: parts.transcripts,
    polling: () => loaded().settings.polling,
    pipeline: () => loaded().settings,
    learner: () => loaded().settings.learner,
    prompts: () => loaded().prompts,
    describe: () => ({ ...describeProject(loaded(), editor(), version), name }),
    movesFrom: (state) => editor()?.movesFrom(state) ?? [],
    submit: (request, author) => submitCommand(submitting, request, author),
    resumeCommand: async (runId) => {
      const run = await store.runs.read(runId);
      return run === null ? null : resumeLine(submitting, run);
    },
    configuration: () => {
      const { workflow, problem } = parts.workflow();
      return configurationReport(workflow, problem);
    },
    board: () => boardService(parts.board(), store),
    workspaces: (wanted) => {
      const { settings } = loaded();
      return workspaceReport({ store, project, clock, settings, tracker: parts.tracker() }, wanted);
    },
    requests: (hours) =>
      requestReport(
        {
          requestCounts: store.requestCounts,
          views: remote.views(),
          now: clock.now(),
          budget: loaded().settings.polling.budget,
        },
        hours,
      ),
  } satisfies Partial<ApiProject>;
}
