import { sleep } from '../../clock/clock.ts';
import { systemChance } from '../../clock/system-chance.ts';
import { systemClock } from '../../clock/system-clock.ts';
import { BatonError } from '../../core/baton-error.ts';
import type { CommandKind } from '../../core/command.ts';
import type { Command } from '../../store/commands.ts';
import { exitCodes } from '../exit-codes.ts';
import type { Surroundings } from '../surroundings.ts';
import { openWorkplace, type Workplace, type WorkplaceFlags } from '../workplace.ts';

export interface CommandFlags extends WorkplaceFlags {
  readonly json?: boolean;
  readonly reason?: string;
  /** Chosen by the caller so that asking twice is asking once. */
  readonly key?: string;
  readonly as?: string;
}

/** How long an answer is waited for; the daemon may be in the middle of a slow read of the tracker. */
const answerMs = 15_000;
const lookEveryMs = 50;

/** Writes a command, wakes the daemon and tells its answer. Without a daemon the command waits, and that is told. */
export async function submitCommand(
  kind: CommandKind,
  payload: Readonly<Record<string, unknown>>,
  flags: CommandFlags,
  surroundings: Surroundings,
): Promise<number> {
  await using workplace = await openWorkplace(flags, surroundings);
  const { command } = await workplace.store.commands.submit({
    id: systemChance.id(),
    project: workplace.project.id,
    kind,
    payload: { ...payload, ...(flags.reason === undefined ? {} : { reason: flags.reason }) },
    author: { kind: 'person', name: flags.as ?? surroundings.userName },
    at: systemClock.now(),
    key: flags.key ?? null,
  });
  const answered =
    (await workplace.wake()) || command.result !== null ? await waitForAnswer(workplace, command) : command;
  return report(answered, flags.json === true, surroundings);
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
  stdout.write(
    json ? `${JSON.stringify({ command: { id, kind, status: result?.status ?? 'waiting', text } })}\n` : `${text}\n`,
  );
  return exitCodes.ok;
}
