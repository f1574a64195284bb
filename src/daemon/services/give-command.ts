import { isDeepStrictEqual } from 'node:util';
import { sleep } from '../../clock/clock.ts';
import { systemChance } from '../../clock/system-chance.ts';
import { systemClock } from '../../clock/system-clock.ts';
import { BatonError } from '../../core/baton-error.ts';
import type { CommandKind } from '../../core/command/command.ts';
import type { Author } from '../../core/issue/author.ts';
import type { Store } from '../../store/store.ts';
import type { Command } from '../../store/tables/commands.ts';

export interface CommandPlace {
  readonly store: Pick<Store, 'commands'>;
  /** The project's id in the store. */
  readonly project: string;
  /** Tells the daemon that something was written; false when none runs. */
  wake(): Promise<boolean>;
  /** How a refusal is told; for somebody at a terminal unless told otherwise. */
  readonly refusal?: (why: string, details: Readonly<Record<string, unknown>>) => BatonError;
}

export interface WantedCommand {
  readonly kind: CommandKind;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly author: Author;
  /** Chosen by the caller so that asking twice is asking once. */
  readonly key: string | null;
  readonly reason: string | null;
}

/** How long an answer is waited for; the daemon may be in the middle of a slow read of the tracker. */
const answerMs = 15_000;
const lookEveryMs = 50;

/** Writes a command, wakes the daemon and waits for its answer. One that is refused throws; one without a result waits. */
export async function giveCommand(place: CommandPlace, wanted: WantedCommand): Promise<Command> {
  const { kind, payload, author, key, reason } = wanted;
  const { command, created } = await place.store.commands.submit({
    id: systemChance.id(),
    project: place.project,
    kind,
    payload: { ...payload, ...(reason === null ? {} : { reason }) },
    author,
    at: systemClock.now(),
    key,
  });
  if (!created) refuseOther(command, wanted);
  const answered = (await place.wake()) || command.result !== null ? await waitForAnswer(place, command) : command;
  if (answered.result?.status !== 'refused') return answered;
  const { id, result } = answered;
  throw (place.refusal ?? refusedAtTerminal)(result.text, { id, kind, code: result.code, data: result.data });
}

function refusedAtTerminal(why: string, details: Readonly<Record<string, unknown>>): BatonError {
  const nextStep = 'Read the reason; `baton status` shows what is going on.';
  return new BatonError('command_refused', `The command was refused: ${ended(why)}`, { nextStep, details });
}

/** The reason as one sentence: that it was refused is told by the code, and by whoever shows it. */
export function commandRefused(why: string, details: Readonly<Record<string, unknown>>): BatonError {
  return new BatonError('command_refused', ended(`${why.charAt(0).toUpperCase()}${why.slice(1)}`), { details });
}

/** Some are whole sentences already. */
function ended(why: string): string {
  return /[.!?]$/.test(why) ? why : `${why}.`;
}

/** The answer to another command would be taken for the answer to this one. */
function refuseOther({ id, key, ...earlier }: Command, { kind, payload }: WantedCommand): void {
  // Why it was asked for changes nothing.
  const { reason: _reason, ...asked } = earlier.payload;
  if (earlier.kind === kind && isDeepStrictEqual(asked, payload)) return;
  throw new BatonError('command_refused', `The key "${key}" was used for another command (${earlier.kind}).`, {
    nextStep: 'Choose another key.',
    details: { id, kind: earlier.kind, code: 'key_in_use' },
  });
}

async function waitForAnswer({ store }: CommandPlace, command: Command): Promise<Command> {
  const deadline = systemClock.monotonic() + answerMs;
  for (;;) {
    const found = (await store.commands.read(command.id)) ?? command;
    if (found.result !== null || systemClock.monotonic() > deadline) return found;
    await sleep(systemClock, lookEveryMs);
  }
}
