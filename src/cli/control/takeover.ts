import { sleep } from '../../clock/clock.ts';
import { systemClock } from '../../clock/system-clock.ts';
import { survivesReason } from '../../core/command/retry-command.ts';
import { threadToResume } from '../../core/run/thread-to-resume.ts';
import { harmlessLines } from '../../core/text/harmless-line.ts';
import { findTracker } from '../../daemon/adapters.ts';
import { resumeLine } from '../../daemon/services/resume-line.ts';
import { shellArgument } from '../../daemon/shell-argument.ts';
import type { Surroundings } from '../../daemon/surroundings.ts';
import { openWorkplace, statePlace, type Workplace } from '../../daemon/workplace.ts';
import type { RunRecord } from '../../store/tables/runs.ts';
import { exitCodes } from '../exit-codes.ts';
import { jsonLine } from '../json-line.ts';
import { latestRunOf } from '../runs/show-runs.ts';
import { type CommandFlags, presentCommand, sendCommand } from './submit-command.ts';

/** How long the end of the run is waited for: an agent is given time to end by itself, and then it is killed. */
const endMs = 60_000;
const lookEveryMs = 100;

/**
 * `baton takeover ISSUE`: the agent is ended and the issue is held for the person who asked; then it is told where the work
 * is and how its conversation is opened by hand. Told only when the run has ended: two in one workspace are one too many.
 */
export async function takeOver(issue: string, flags: CommandFlags, surroundings: Surroundings): Promise<number> {
  await using workplace = await openWorkplace(flags, surroundings);
  const sent = await sendCommand(workplace, { kind: 'issue_takeover', payload: { issue } }, flags, surroundings);
  const command = presentCommand(sent);
  const isDone = command.status === 'done';
  const run = isDone ? await endedRunOf(workplace, issue) : null;
  const isFree = isDone && (run === null || (run.finish !== null && run.finish.errorCode !== 'agent_survives'));
  const hasBoard = findTracker(workplace.settings.tracker.kind, surroundings).openBoard !== undefined;
  const shown = {
    run_id: run?.runId ?? null,
    run_ended: run === null ? null : run.finish !== null,
    /** Whether a person may work there: no agent does, as far as Baton can tell. */
    workspace_free: isFree,
    workspace_path: run?.workspace ?? null,
    resume_command: run === null ? null : await lineFor(run, workplace, flags, surroundings),
  };
  const text = [command.text, ...(isDone ? handoverLines(run, shown.resume_command, issue, hasBoard) : [])];
  surroundings.stdout.write(
    flags.json ? jsonLine({ command, takeover: isDone ? shown : null }) : `${text.map(oneLine).join('\n')}\n`,
  );
  return isFree || !isDone ? exitCodes.ok : exitCodes.error;
}

/** The newest run of the issue, as soon as it has ended; after a while as it is. */
async function endedRunOf(workplace: Workplace, issue: string): Promise<RunRecord | null> {
  const deadline = systemClock.monotonic() + endMs;
  for (;;) {
    const run = await latestRunOf(workplace, issue);
    if (run === null || run.finish !== null || systemClock.monotonic() > deadline) return run;
    await sleep(systemClock, lookEveryMs);
  }
}

/** Opens the conversation that the next agent goes on with; of a run that never had one, that of the run before it. */
async function lineFor(
  run: RunRecord,
  { workflowPath, settings, store, project }: Workplace,
  flags: CommandFlags,
  surroundings: Surroundings,
): Promise<string | null> {
  const { issueId, backend, workspace } = run;
  const runs = await store.runs.list(project.id, { issueId, limit: mostEarlier });
  const threadId = threadToResume({ backend, retryKind: 'handed_back' }, runs);
  const spoken = threadId === null ? undefined : runs.find((each) => each.threadId === threadId);
  if (spoken === undefined || workspace === null) return null;
  const { stateDir } = statePlace(workflowPath, settings, flags.stateDir, surroundings);
  return resumeLine(settings, { ...spoken, workspace }, stateDir, surroundings);
}

/** So far back is looked for it. */
const mostEarlier = 20;

function handoverLines(run: RunRecord | null, command: string | null, issue: string, hasBoard: boolean): string[] {
  const named = shellArgument(run?.identifier ?? issue);
  const back = `give it back  baton handback ${named}`;
  if (run === null || run.workspace === null) return ['workspace     none yet: no agent has worked on it', back];
  const place = `workspace     ${run.workspace}`;
  if (run.finish === null)
    return [place, 'Its run has not ended yet: do not work there before `baton runs show` tells an end.'];
  if (run.finish.errorCode === 'agent_survives')
    return [place, survivesReason('Its agent could not be ended and may still be at work there.', run.identifier)];
  if (command === null)
    return [
      place,
      `conversation  no command opens the conversation (backend ${run.backend}); open the workspace itself`,
      back,
    ];
  const move = hasBoard ? `with baton issue move ${named} STATE` : 'in the tracker';
  return [
    place,
    `conversation  ${command}`,
    `mind          Baton's tools do not work in it: move the ticket ${move}. Close it before you give it back.`,
    back,
  ];
}

/** Harmless, and every space of a path is kept. */
function oneLine(text: string): string {
  return harmlessLines(text).replaceAll('\n', ' ');
}
