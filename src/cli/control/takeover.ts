import type { Run } from '../../client/schema/run.ts';
import { sleep } from '../../clock/clock.ts';
import { BatonError } from '../../core/baton-error.ts';
import { survivesReason } from '../../core/command/retry-command.ts';
import { harmlessLines } from '../../core/text/harmless-line.ts';
import { shellArgument } from '../../core/text/shell-argument.ts';
import type { Connection } from '../../daemon/connect.ts';
import type { Surroundings } from '../../daemon/surroundings.ts';
import { exitCodes } from '../exit-codes.ts';
import { jsonLine } from '../json-line.ts';
import { commandsHere } from '../place-flags.ts';
import { type CommandFlags, connectAs, sendCommand } from './submit-command.ts';

/** How long to wait for the end of the run: the agent gets time to end by itself, and is then killed. */
const endMs = 60_000;
const checkEveryMs = 100;

/**
 * `baton takeover ISSUE`: ends the agent and holds the issue for the person who asked. Once the run has ended, it
 * prints where the work is and how to open its conversation by hand; before that, two would work in one workspace.
 */
export async function takeOver(issue: string, flags: CommandFlags, surroundings: Surroundings): Promise<number> {
  await using connection = await connectAs(flags, surroundings);
  const command = await sendCommand(connection, { kind: 'issue_takeover', issue }, flags, surroundings);
  const isDone = command.status === 'done';
  const run = isDone ? await endedRunOf(connection, issue, surroundings) : null;
  const isFree = isDone && (run === null || (run.ended_at !== null && run.error_code !== 'agent_survives'));
  const shown = {
    run_id: run?.run_id ?? null,
    run_ended: run === null ? null : run.ended_at !== null,
    /** Whether a person may work there: as far as Baton knows, no agent does. */
    workspace_free: isFree,
    workspace_path: run?.workspace_path ?? null,
    resume_command: run === null ? null : (await connection.project.run(run.run_id)).resume_command,
  };
  const text = [command.text, ...(isDone ? handoverLines(run, shown.resume_command, issue, connection.described) : [])];
  const here = commandsHere(flags, surroundings);
  surroundings.stdout.write(
    flags.json ? jsonLine({ command, takeover: isDone ? shown : null }) : `${here(text.map(oneLine).join('\n'))}\n`,
  );
  return isFree || !isDone ? exitCodes.ok : exitCodes.error;
}

/** The newest run of the issue, as soon as it has ended; after `endMs` also one that has not. */
async function endedRunOf({ project }: Connection, issue: string, { clock }: Surroundings): Promise<Run | null> {
  const deadline = clock.monotonic() + endMs;
  for (;;) {
    const [run] = await project.runs({ issue, limit: 1 }).catch((thrown: unknown) => {
      if (thrown instanceof BatonError && thrown.code === 'tracker_issue_not_found') return [];
      throw thrown;
    });
    if (run === undefined) return null;
    if (run.ended_at !== null || clock.monotonic() > deadline) return run;
    await sleep(clock, checkEveryMs);
  }
}

function handoverLines(
  run: Run | null,
  command: string | null,
  issue: string,
  { has_board: hasBoard }: Connection['described'],
): string[] {
  const named = shellArgument(run?.issue_identifier ?? issue);
  const back = `hand back     baton handback ${named}`;
  if (run === null || run.workspace_path === null)
    return ['workspace     none yet: no agent has worked on this issue', back];
  const place = `workspace     ${run.workspace_path}`;
  if (run.ended_at === null)
    return [place, 'The run has not ended yet. Do not work there until `baton runs show` shows that it has.'];
  if (run.error_code === 'agent_survives')
    return [
      place,
      survivesReason('Baton could not stop the agent, which may still be working there.', run.issue_identifier),
    ];
  if (command === null)
    return [place, `conversation  cannot be opened by hand (backend ${run.backend}); work in the workspace`, back];
  const move = hasBoard ? `with baton issue move ${named} STATE` : 'in the tracker';
  return [
    place,
    `conversation  ${command}`,
    `note          Baton's tools do not work in this conversation: move the issue ${move}. Close the conversation before you hand back.`,
    back,
  ];
}

/** Harmless for a terminal, with every space of a path kept. */
function oneLine(text: string): string {
  return harmlessLines(text).replaceAll('\n', ' ');
}
