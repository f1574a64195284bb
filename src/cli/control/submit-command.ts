import type { CommandKind } from '../../core/command/command.ts';
import type { CommandAnswer } from '../../core/command/command-answers.ts';
import type { QuestionAnswer } from '../../core/command/question.ts';
import { giveCommand } from '../../daemon/services/give-command.ts';
import type { Surroundings } from '../../daemon/surroundings.ts';
import { openWorkplace, type Workplace, type WorkplaceFlags } from '../../daemon/workplace.ts';
import type { Command } from '../../store/tables/commands.ts';
import { authorOf } from '../author-of.ts';
import { exitCodes } from '../exit-codes.ts';
import { jsonLine } from '../json-line.ts';

export interface CommandFlags extends WorkplaceFlags {
  readonly json?: boolean;
  readonly reason?: string;
  /** Chosen by the caller so that asking twice is asking once. */
  readonly key?: string;
  readonly as?: string;
}

/** What a command is about; only those on an issue name one. */
export interface CommandPayload {
  readonly issue?: string;
  /** What the agent is told. */
  readonly text?: string;
  /** What the next agent is told of the work done by hand. */
  readonly note?: string;
  readonly question?: string;
  readonly decision?: QuestionAnswer['decision'];
  readonly values?: QuestionAnswer['values'];
}

/** Writes a command, wakes the daemon and tells its answer. Without a daemon the command waits, and that is told. */
export async function submitCommand(
  kind: CommandKind,
  payload: CommandPayload,
  flags: CommandFlags,
  surroundings: Surroundings,
): Promise<number> {
  await using workplace = await openWorkplace(flags, surroundings);
  const command = await sendCommand(workplace, { kind, payload }, flags, surroundings);
  const told = presentCommand(command);
  surroundings.stdout.write(flags.json ? jsonLine({ command: told }) : `${told.text}\n`);
  return exitCodes.ok;
}

/** The same without telling anybody. One that is refused throws; one without a result waits for a daemon. */
export function sendCommand(
  { store, project, wake }: Workplace,
  { kind, payload }: { readonly kind: CommandKind; readonly payload: CommandPayload },
  { key, reason, as }: CommandFlags,
  surroundings: Surroundings,
): Promise<Command> {
  const author = authorOf(as, surroundings);
  return giveCommand(
    { store, project: project.id, wake },
    { kind, payload: { ...payload }, author, key: key ?? null, reason: reason ?? null },
  );
}

const waits = 'No daemon has answered. The command waits in the store until a daemon runs.';

/** A command as other programs get it, with words for people. */
export function presentCommand({ id, kind, result }: Command): {
  readonly id: string;
  readonly kind: string;
  readonly status: 'done' | 'refused' | 'waiting';
  /** Null while the command waits. */
  readonly code: CommandAnswer['code'] | null;
  readonly text: string;
  readonly data: CommandAnswer['data'];
} {
  if (result === null) return { id, kind, status: 'waiting', code: null, text: waits, data: {} };
  const { status, code, text, data } = result;
  return { id, kind, status, code, text, data };
}
