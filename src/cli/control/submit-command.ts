import type { Command, CommandRequest } from '../../client/schema/command.ts';
import { BatonError } from '../../core/baton-error.ts';
import { type ErrorCode, errorCatalogue } from '../../core/error-catalogue.ts';
import { type Connection, connect } from '../../daemon/connect.ts';
import type { Surroundings } from '../../daemon/surroundings.ts';
import type { WorkplaceFlags } from '../../daemon/workplace.ts';
import { boardErrors } from '../../tracker/board/board-errors.ts';
import { authorOf } from '../author-of.ts';
import { exitCodes } from '../exit-codes.ts';
import { jsonLine } from '../json-line.ts';
import { commandsHere } from '../place-flags.ts';

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
  const alone = command.status === 'waiting' && !connection.isDaemon() ? ' No daemon is running: `baton start`.' : '';
  const text = commandsHere(flags, surroundings)(`${command.text}${alone}`);
  surroundings.stdout.write(flags.json ? jsonLine({ command }) : `${text}\n`);
  return exitCodes.ok;
}

/** A connection for commands in the name of the person or the run that sends them. */
export async function connectAs(
  flags: WorkplaceFlags & { readonly as?: string },
  surroundings: Surroundings,
): Promise<Connection> {
  return connect(flags, surroundings, { author: await authorOf(flags.as, surroundings) });
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

/**
 * Sends a command that is carried out with or without a daemon, because it needs only the store and the tracker. A
 * refusal that comes from an error rejects with that error.
 */
export async function sendChange(
  connection: Pick<Connection, 'project'>,
  request: CommandRequest,
  flags: CommandFlags,
  surroundings: Pick<Surroundings, 'chance'>,
): Promise<Command> {
  const command = await sendCommand(connection, request, flags, surroundings).catch((thrown: unknown) => {
    throw errorBehind(thrown) ?? thrown;
  });
  if (command.status === 'done') return command;
  throw new BatonError('daemon_unreachable', command.text, { details: { id: command.id } });
}

/** Null when the refusal is an answer of its own. */
function errorBehind(thrown: unknown): BatonError | null {
  if (!(thrown instanceof BatonError) || thrown.code !== 'command_refused') return null;
  const { code, data } = thrown.details;
  const entries: Readonly<Record<string, ErrorCode | (typeof boardErrors)[keyof typeof boardErrors]>> = {
    ...Object.fromEntries(Object.keys(errorCatalogue).map((known) => [known, known as ErrorCode])),
    ...boardErrors,
  };
  const entry = typeof code === 'string' && Object.hasOwn(entries, code) ? entries[code] : undefined;
  if (entry === undefined) return null;
  return new BatonError(entry, thrown.message, { cause: thrown, details: data as Record<string, unknown> });
}
