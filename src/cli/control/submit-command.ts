import type { Command, CommandRequest } from '../../client/schema/command.ts';
import { type Connection, connect } from '../../daemon/connect.ts';
import type { Surroundings } from '../../daemon/surroundings.ts';
import type { WorkplaceFlags } from '../../daemon/workplace.ts';
import { authorOf } from '../author-of.ts';
import { exitCodes } from '../exit-codes.ts';
import { jsonLine } from '../json-line.ts';

export interface CommandFlags extends WorkplaceFlags {
  readonly json?: boolean;
  readonly reason?: string;
  /** Chosen by the caller: a repeated command with the same key counts once. */
  readonly key?: string;
  readonly as?: string;
}

/** Sends a command and prints its answer. Without a daemon the command waits in the store, and the answer says so. */
export async function submitCommand(
  request: CommandRequest,
  flags: CommandFlags,
  surroundings: Surroundings,
): Promise<number> {
  await using connection = await connectAs(flags, surroundings);
  const command = await sendCommand(connection, request, flags, surroundings);
  surroundings.stdout.write(flags.json ? jsonLine({ command }) : `${command.text}\n`);
  return exitCodes.ok;
}

/** A connection for commands in the name of the person or the run that sends them. */
export function connectAs(flags: CommandFlags, surroundings: Surroundings): Promise<Connection> {
  return connect(flags, surroundings, { author: authorOf(flags.as, surroundings) });
}

/** A refused command throws; one without a result waits for a daemon. */
export function sendCommand(
  { project }: Pick<Connection, 'project'>,
  request: CommandRequest,
  { key, reason }: CommandFlags,
  { chance }: Pick<Surroundings, 'chance'>,
): Promise<Command> {
  return project.submit({ ...request, ...(reason === undefined ? {} : { reason }), key: key ?? chance.id() });
}
