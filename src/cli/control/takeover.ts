import { sleep } from '../../clock/clock.ts';
import { systemClock } from '../../clock/system-clock.ts';
import { harmlessLines } from '../../core/harmless-line.ts';
import { survivesReason } from '../../core/retry-command.ts';
import type { RunRecord } from '../../store/runs.ts';
import { exitCodes } from '../exit-codes.ts';
import { jsonLine } from '../json-line.ts';
import { resumeCommand } from '../resume-command.ts';
import { latestRunOf } from '../runs/show-runs.ts';
import { shellArgument } from '../shell-argument.ts';
import type { Surroundings } from '../surroundings.ts';
import { openWorkplace, type Workplace } from '../workplace.ts';
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
  const shown = {
    run_id: run?.runId ?? null,
    run_ended: run === null ? null : run.finish !== null,
    workspace_path: run?.workspace ?? null,
    resume_command: run === null ? null : resumeCommand(workplace.settings, run),
  };
  const text = [command.text, ...(isDone ? handoverLines(run, shown.resume_command, issue) : [])];
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

function handoverLines(run: RunRecord | null, command: string | null, issue: string): string[] {
  const back = `give it back  baton handback ${shellArgument(run?.identifier ?? issue)}`;
  if (run === null || run.workspace === null) return ['workspace     none yet: no agent has worked on it', back];
  const place = `workspace     ${run.workspace}`;
  if (run.finish === null)
    return [place, 'Its run has not ended yet: do not work there before `baton runs show` tells an end.'];
  if (run.finish.errorCode === 'agent_survives')
    return [place, survivesReason('Its agent could not be ended and may still be at work there.', run.identifier)];
  const opened = command ?? `no command opens the conversation (backend ${run.backend}); open the workspace itself`;
  return [place, `conversation  ${opened}`, back];
}

/** Harmless, and every space of a path is kept. */
function oneLine(text: string): string {
  return harmlessLines(text).replaceAll('\n', ' ');
}
