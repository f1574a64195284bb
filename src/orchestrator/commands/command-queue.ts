import { toBatonError } from '../../core/baton-error.ts';
import { type CommandAnswer, refused } from '../../core/command/command-answers.ts';
import type { Command, CommandResult } from '../../store/tables/commands.ts';
import type { BaseParts } from '../parts.ts';
import type { Activity } from '../poll/activity.ts';
import { type CommandParts, executeCommand } from './execute-command.ts';

export interface CommandQueueParts extends CommandParts, Pick<BaseParts, 'logger' | 'stopping'> {
  readonly activity: Activity;
}

/** How many waiting commands are read at a time. */
const batch = 50;
/** How long nothing is tried after the store did not take an answer. */
const restMs = 1_000;

/**
 * The one way in which people and programs change scheduling state. Commands wait in the store; `drain` is called by the
 * process that wrote one, and by each tick. They are carried out one after the other in their order; a command whose
 * result is written is never carried out again, nor one whose result could not be written while this daemon lives. A crash
 * between the two repeats it, so every command is one that may be repeated.
 */
export class CommandQueue {
  readonly #parts: CommandQueueParts;
  #working: Promise<void> | null = null;
  #isAsked = false;
  #restsUntil = Number.NEGATIVE_INFINITY;
  /** What came of commands that were carried out, until that is in the store. */
  readonly #unwritten = new Map<string, CommandAnswer>();
  /** Commands of this process whose answer is awaited, by id. */
  readonly #awaited = new Map<string, PromiseWithResolvers<CommandResult | null>>();

  constructor(parts: CommandQueueParts) {
    this.#parts = parts;
    parts.stopping.addEventListener('abort', () => {
      for (const id of [...this.#awaited.keys()]) this.#answer(id, null);
    });
  }

  /** The answer to a command in the store; null when this daemon stops before there is one. Never rejects. */
  answerTo(commandId: string): Promise<CommandResult | null> {
    if (this.#parts.stopping.aborted) return Promise.resolve(null);
    const awaited = this.#awaited.get(commandId) ?? Promise.withResolvers<CommandResult | null>();
    this.#awaited.set(commandId, awaited);
    return awaited.promise;
  }

  /** Carries out what waits; resolves when nothing does any more. Never rejects. */
  drain(): Promise<void> {
    this.#isAsked = true;
    this.#working ??= this.#work().finally(() => {
      this.#working = null;
      // Asked between the last read and here.
      return this.#isAsked && !this.#parts.stopping.aborted ? this.drain() : undefined;
    });
    return this.#working;
  }

  async #work(): Promise<void> {
    const { clock, logger, stopping } = this.#parts;
    while (this.#isAsked && !stopping.aborted) {
      this.#isAsked = false;
      // The next tick asks again.
      if (clock.monotonic() < this.#restsUntil) return;
      try {
        await this.#carryOutAll();
      } catch (error) {
        // What was carried out and not answered may have asked for a tick: without a rest it would come again at once.
        this.#restsUntil = clock.monotonic() + restMs;
        logger.error('commands_stuck', { error });
      }
    }
  }

  /** Each command that waits is met once: those that have to go on waiting hide none that came after them. */
  async #carryOutAll(): Promise<void> {
    const { store, project, stopping } = this.#parts;
    const met = new Set<string>();
    const postponed = new Set<unknown>();
    for (let isMore = true; isMore; ) {
      const waiting = (await store.commands.waiting(project, batch + met.size)).filter(({ id }) => !met.has(id));
      for (const command of waiting) {
        // What a stopping daemon would answer has no effect any more; it waits for the next one.
        if (stopping.aborted) return;
        met.add(command.id);
        // Commands about one issue keep their order; others do not wait for it.
        if (postponed.has(subjectOf(command))) continue;
        if (!(await this.#carryOut(command))) postponed.add(subjectOf(command));
      }
      isMore = waiting.length >= batch;
    }
    // What is awaited and does not wait any more was answered before it was awaited, or by another daemon.
    for (const id of [...this.#awaited.keys()].filter((each) => !met.has(each))) {
      const result = (await store.commands.read(id))?.result ?? null;
      if (result !== null) this.#answer(id, result);
    }
  }

  #answer(commandId: string, result: CommandResult | null): void {
    this.#awaited.get(commandId)?.resolve(result);
    this.#awaited.delete(commandId);
  }

  /** False when it has to wait for better times; the next tick asks again. */
  async #carryOut(command: Command): Promise<boolean> {
    const { store, clock, logger, pause } = this.#parts;
    let answer: CommandAnswer;
    try {
      answer = this.#unwritten.get(command.id) ?? (await executeCommand(this.#parts, command));
    } catch (thrown) {
      const error = toBatonError(thrown);
      if (error.retryable) {
        logger.warn('command_postponed', { command_id: command.id, error });
        return false;
      }
      answer = refused(error.code, error.message, error.details);
    }
    this.#unwritten.set(command.id, answer);
    const result = { at: clock.now(), ...answer };
    // Where another daemon answered it first, its answer counts: the next pass reads it.
    const isFirst = await store.commands.finish(command.id, result);
    this.#unwritten.delete(command.id);
    if (isFirst) this.#answer(command.id, result);
    pause.answered(command.id);
    if (answer.status === 'done') this.#parts.activity.note();
    logger.info('command_answered', { command_id: command.id, kind: command.kind, ...answer });
    return true;
  }
}

/** What has to be done in its order: all that is about one issue, all that is about none; workspaces are for themselves. */
function subjectOf({ id, kind, payload }: Command): unknown {
  return kind === 'workspaces_prune' ? id : payload.issue;
}
