import { sleep } from '../../clock/clock.ts';
import { systemChance } from '../../clock/system-chance.ts';
import { systemClock } from '../../clock/system-clock.ts';
import { BatonError } from '../../core/baton-error.ts';
import type { CommandKind } from '../../core/command.ts';
import type { Command } from '../../store/commands.ts';
import { exitCodes } from '../exit-codes.ts';
import { jsonLine } from '../json-line.ts';
import type { Surroundings } from '../surroundings.ts';
import { openWorkplace, type Workplace, type WorkplaceFlags } from '../workplace.ts';

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
}

/** How long an answer is waited for; the daemon may be in the middle of a slow read of the tracker. */
const answerMs = 15_000;
const lookEveryMs = 50;

/** Writes a command, wakes the daemon and tells its answer. Without a daemon the command waits, and that is told. */
export async function submitCommand(
  kind: CommandKind,
  payload: CommandPayload,
  flags: CommandFlags,
  surroundings: Surroundings,
): Promise<number> {
  await using workplace = await openWorkplace(flags, surroundings);
  const { command, created } = await workplace.store.commands.submit({
    id: systemChance.id(),
    project: workplace.project.id,
    kind,
    payload: { ...payload, ...(flags.reason === undefined ? {} : { reason: flags.reason }) },
    author: { kind: 'person', name: flags.as ?? surroundings.userName },
    at: systemClock.now(),
    key: flags.key ?? null,
  });
  if (!created) refuseOther(command, kind, payload);
  const answered =
    (await workplace.wake()) || command.result !== null ? await waitForAnswer(workplace, command) : command;
  return report(answered, flags.json === true, surroundings);
}

/** The answer to another command would be taken for the answer to this one. */
function refuseOther({ id, key, ...earlier }: Command, kind: CommandKind, payload: CommandPayload): void {
  if (earlier.kind === kind && earlier.payload.issue === payload.issue) return;
  throw new BatonError('command_refused', `The key "${key}" was used for another command (${earlier.kind}).`, {
    nextStep: 'Choose another key.',
    details: { id, kind: earlier.kind },
  });
}

async function waitForAnswer({ store }: Workplace, command: Command): Promise<Command> {
  const deadline = systemClock.monotonic() + answerMs;
  for (;;) {
    const found = (await store.commands.read(command.id)) ?? command;
    if (found.result !== null || systemClock.monotonic() > deadline) return found;
    await sleep(systemClock, lookEveryMs);
  }
}

function report(command: Command, json: boolean, { stdout }: Surroundings): number {
  const { id, kind, result } = command;
  if (result?.status === 'refused') {
    throw new BatonError('command_refused', `The command was refused: ${result.text}.`, { details: { id, kind } });
  }
  const text =
    result?.text ?? 'no daemon has answered; the command waits in the store and is carried out when one runs';
  stdout.write(json ? jsonLine({ command: { id, kind, status: result?.status ?? 'waiting', text } }) : `${text}\n`);
  return exitCodes.ok;
}
