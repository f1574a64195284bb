import { whyNotForRuns } from '../../core/command/command.ts';
import type { Author } from '../../core/issue/author.ts';
import type { Orchestrator } from '../../orchestrator/orchestrator.ts';
import type { SubmittedCommand } from '../../server/api/api-project.ts';
import type { CommandRequest } from '../../server/api/schema/command.ts';
import type { Store } from '../../store/store.ts';
import type { Command } from '../../store/tables/commands.ts';
import type { RunRecord } from '../../store/tables/runs.ts';
import { commandRefused, giveCommand } from './give-command.ts';

export interface SubmitParts {
  readonly store: Store;
  readonly project: string;
  readonly orchestrator: Orchestrator;
  readonly resumeLine: (run: RunRecord) => Promise<string | null>;
}

/** Gives a command that came over the API, and tells what a person needs to know besides its answer. */
export async function submitFor(
  parts: SubmitParts,
  { kind, key, reason, ...payload }: CommandRequest,
  author: Author,
): Promise<SubmittedCommand> {
  const { store, project, orchestrator } = parts;
  // Before it is written: what is refused anyway must not fill the store.
  const notForRuns = author.kind === 'run' ? whyNotForRuns(kind) : null;
  if (notForRuns !== null) throw commandRefused(notForRuns, { kind, code: 'not_for_agents' });
  const command = await giveCommand(
    {
      store,
      project,
      wake: async () => {
        orchestrator.wake();
        return true;
      },
      refusal: commandRefused,
    },
    { kind, payload, author, key: key ?? null, reason: reason ?? null },
  );
  return { command, facts: await factsOf(parts, command) };
}

async function factsOf(parts: SubmitParts, command: Command): Promise<Readonly<Record<string, unknown>>> {
  if (command.result?.status !== 'done') return {};
  if (command.kind === 'issue_file') return { identifier: command.result.data.issue ?? null };
  if (command.kind !== 'issue_takeover' || typeof command.payload.issue !== 'string') return {};
  const run = await parts.store.runs.latestNamed(parts.project, command.payload.issue);
  if (run === null) return { workspace_path: null, resume_command: null, run_ended: null };
  return {
    run_id: run.runId,
    workspace_path: run.workspace,
    resume_command: await parts.resumeLine(run),
    // An agent is given time to end by itself: the stream tells when it has.
    run_ended: run.finish !== null,
  };
}
