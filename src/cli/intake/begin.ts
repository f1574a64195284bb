import type { Command } from '../../client/schema/command.ts';
import { taskPriceText } from '../../client/task-price.ts';
import { sleep } from '../../clock/clock.ts';
import { BatonError } from '../../core/baton-error.ts';
import { mostIntakeChars, type TaskKind } from '../../core/task/task.ts';
import type { Connection } from '../../daemon/connect.ts';
import type { Surroundings } from '../../daemon/surroundings.ts';
import { type CommandFlags, connectAs, sendCommand } from '../control/submit-command.ts';
import { exitCodes } from '../exit-codes.ts';
import { jsonLine } from '../json-line.ts';
import { commandsHere } from '../place-flags.ts';
import { readTextFile } from './read-file.ts';
import { taskLines, waitText } from './show.ts';

export interface BeginFlags extends CommandFlags {
  readonly wait?: boolean;
}

/** How often the task is asked for with `--wait`. */
const askAgainMs = 1_000;

/** `baton intake FILE`: says what it costs, gives the text to an agent, and says how to see what it proposes. */
export async function beginIntake(file: string, flags: BeginFlags, surroundings: Surroundings): Promise<number> {
  const text = (await readTextFile(file, surroundings)).trim();
  if (text.length > mostIntakeChars)
    throw new BatonError('usage_error', `The text has more than ${mostIntakeChars} characters.`, {
      nextStep: 'Split it, and send the parts one after the other.',
    });
  await using connection = await connectAs(flags, surroundings);
  await tellPrice(connection, 'intake', flags, surroundings);
  const command = await sendCommand(connection, { kind: 'intake_begin', text }, flags, surroundings);
  return followTask(connection, command, flags, surroundings);
}

/** `baton scan now`, `baton learn now`: asks for one task. */
export async function beginOwn(kind: 'scan' | 'learn', flags: BeginFlags, surroundings: Surroundings): Promise<number> {
  await using connection = await connectAs(flags, surroundings);
  await tellPrice(connection, kind, flags, surroundings);
  const command = await sendCommand(connection, { kind: `${kind}_begin` }, flags, surroundings);
  return followTask(connection, command, flags, surroundings);
}

/** Says what a task costs, before the command that begins it is sent. */
export async function tellPrice(
  connection: Connection,
  kind: TaskKind,
  { json }: CommandFlags,
  { stderr }: Surroundings,
): Promise<void> {
  if (json) return;
  const vitals = connection.isDaemon() ? (await connection.project.now()).vitals : null;
  stderr.write(`${taskPriceText(kind, vitals)}\n`);
}

/** Prints the answer, or with `--wait` what the agent proposed. */
async function followTask(
  connection: Connection,
  command: Command,
  flags: BeginFlags,
  surroundings: Surroundings,
): Promise<number> {
  const { stdout } = surroundings;
  const here = commandsHere(flags, surroundings);
  const id = String(command.data?.task ?? '');
  if (!flags.wait || command.status !== 'done') {
    const alone = command.status === 'waiting' && !connection.isDaemon() ? ' No daemon is running: `baton start`.' : '';
    stdout.write(flags.json ? jsonLine({ command }) : `${here(`${command.text}${alone}`)}\n`);
    return exitCodes.ok;
  }
  const task = await answered(connection, id, flags, surroundings);
  stdout.write(flags.json ? jsonLine({ task }) : here(`${taskLines(task).join('\n')}\n`));
  return task.status === 'failed' ? exitCodes.error : exitCodes.ok;
}

/** The task, once its agent has answered or failed. Says what it waits for: an agent may have to wait until tomorrow. */
export async function answered(
  { project }: Pick<Connection, 'project'>,
  id: string,
  { json }: CommandFlags,
  { clock, stderr }: Surroundings,
): Promise<Awaited<ReturnType<Connection['project']['task']>>> {
  for (let said = ''; ; ) {
    const task = await project.task(id);
    if (task.status !== 'waiting') return task;
    const text = waitText(task);
    if (!json && text !== said) stderr.write(`${id}: ${text}\n`);
    said = text;
    await sleep(clock, askAgainMs);
  }
}
