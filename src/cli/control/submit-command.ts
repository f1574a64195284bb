import { isDeepStrictEqual } from 'node:util';
import { sleep } from '../../clock/clock.ts';
import { systemChance } from '../../clock/system-chance.ts';
import { systemClock } from '../../clock/system-clock.ts';
import { BatonError } from '../../core/baton-error.ts';
import type { CommandKind } from '../../core/command.ts';
import type { QuestionAnswer } from '../../core/question.ts';
import type { Command } from '../../store/commands.ts';
import { authorOf } from '../author-of.ts';
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
  /** What the agent is told. */
  readonly text?: string;
  /** What the next agent is told of the work done by hand. */
  readonly note?: string;
  readonly question?: string;
  readonly decision?: QuestionAnswer['decision'];
  readonly values?: QuestionAnswer['values'];
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
  const command = await sendCommand(workplace, { kind, payload }, flags, surroundings);
  const told = presentCommand(command);
  surroundings.stdout.write(flags.json ? jsonLine({ command: told }) : `${told.text}\n`);
  return exitCodes.ok;
}

/** The same without telling anybody. One that is refused throws; one without a result waits for a daemon. */
export async function sendCommand(
  workplace: Workplace,
  { kind, payload }: { readonly kind: CommandKind; readonly payload: CommandPayload },
  flags: CommandFlags,
  surroundings: Surroundings,
): Promise<Command> {
  const { command, created } = await workplace.store.commands.submit({
    id: systemChance.id(),
    project: workplace.project.id,
    kind,
    payload: { ...payload, ...(flags.reason === undefined ? {} : { reason: flags.reason }) },
    author: authorOf(flags.as, surroundings),
    at: systemClock.now(),
    key: flags.key ?? null,
  });
  if (!created) refuseOther(command, kind, payload);
  const answered =
    (await workplace.wake()) || command.result !== null ? await waitForAnswer(workplace, command) : command;
  if (answered.result?.status !== 'refused') return answered;
  const { id, result } = answered;
  throw new BatonError('command_refused', `The command was refused: ${result.text}.`, { details: { id, kind } });
}

/** A command as other programs get it, with words for people. */
export function presentCommand({ id, kind, result }: Command): {
  readonly id: string;
  readonly kind: string;
  readonly status: 'done' | 'refused' | 'waiting';
  readonly text: string;
} {
  const waits = 'no daemon has answered; the command waits in the store and is carried out when one runs';
  return { id, kind, status: result?.status ?? 'waiting', text: result?.text ?? waits };
}

/** The answer to another command would be taken for the answer to this one. */
function refuseOther({ id, key, ...earlier }: Command, kind: CommandKind, payload: CommandPayload): void {
  // Why it was asked for changes nothing.
  const { reason: _reason, ...asked } = earlier.payload;
  if (earlier.kind === kind && isDeepStrictEqual(asked, payload)) return;
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
