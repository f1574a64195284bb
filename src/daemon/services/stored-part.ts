import type { Chance } from '../../clock/chance.ts';
import type { Clock } from '../../clock/clock.ts';
import type { BatonError } from '../../core/baton-error.ts';
import type { ApiProject } from '../../server/api/api-project.ts';
import type { Store } from '../../store/store.ts';
import type { TranscriptReader } from '../../store/transcripts/transcript-files.ts';
import type { IssueEditor } from '../../tracker/tracker.ts';
import type { LoadedWorkflow } from '../../workflow/load-workflow.ts';
import type { Remote } from '../remote.ts';
import type { Surroundings } from '../surroundings.ts';
import { configurationReport, describeProject } from './describe-project.ts';
import { requestReport } from './request-report.ts';
import { resumeLine, type SubmitParts, submitCommand } from './submit-command.ts';

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
  /** Changes issues on Baton's own board; null for another tracker. */
  readonly editor: () => IssueEditor | null;
  readonly surroundings: Pick<Surroundings, 'adapters'>;
}

/** What the workflow file and the store say of a project, with or without a daemon. */
export function storedPart(parts: StoredParts) {
  const { store, project, remote, version, clock } = parts;
  const loaded = (): LoadedWorkflow => parts.workflow().workflow;
  const submitting = { ...parts, settings: () => loaded().settings };
  // A daemon keeps the name that it was started with.
  const { name } = loaded().settings.project;
  return {
    name,
    id: project,
    tables: store,
    transcripts: parts.transcripts,
    polling: () => loaded().settings.polling,
    describe: () => ({ ...describeProject(loaded(), parts.editor(), version), name }),
    movesFrom: (state) => parts.editor()?.movesFrom(state) ?? [],
    submit: (request, author) => submitCommand(submitting, request, author),
    resumeCommand: async (runId) => {
      const run = await store.runs.read(runId);
      return run === null ? null : resumeLine(submitting, run);
    },
    configuration: () => {
      const { workflow, problem } = parts.workflow();
      return configurationReport(workflow, problem);
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
