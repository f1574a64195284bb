import { toBatonError } from '../../core/baton-error.ts';
import { type CommandAnswer, refused } from '../../core/command/command-answers.ts';
import type { Command, CommandResult } from '../../store/tables/commands.ts';
import type { BaseParts } from '../parts.ts';
import type { Activity } from '../poll/activity.ts';
import { type CommandParts, executeCommand } from './execute-command.ts';

export interface CommandQueueParts extends CommandParts, Pick<BaseParts, 'logger' | 'stopping'> {
  readonly activity: Activity;
  readonly findOrphansSoon: () => void;
}

/** How many waiting commands are read at a time. */
const batch = 50;
/** Delay before the next try after the store refused an answer. */
const pauseMs = 1_000;

/**
 * The only way for people and programs to change scheduling state. Commands wait in the store; the process that wrote
 * one calls `drain`, and so does each tick. Commands run one after the other, in order. A command with a written result
 * is never carried out again; nor does this daemon repeat one whose result could not be written. A crash between the
 * two repeats the command, so every command must be safe to repeat.
 */
export class CommandQueue {
  readonly #parts: CommandQueueParts;
  #working: Promise<void> | null = null;
  #isAsked = false;
  #pausedUntil = Number.NEGATIVE_INFINITY;
  /** Answers of carried out commands that are not in the store yet. */
  readonly #unwritten = new Map<string, CommandAnswer>();
  /** Commands of this process whose caller waits for the answer, by id. */
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

  /** Carries out the waiting commands; resolves when none is left. Never rejects. */
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
      // The next tick tries again.
      if (clock.monotonic() < this.#pausedUntil) return;
      try {
        await this.#carryOutAll();
      } catch (error) {
        // A command that was carried out but not answered may have asked for a tick: without a pause the queue would
        // loop.
        this.#pausedUntil = clock.monotonic() + pauseMs;
        logger.error('commands_stuck', { error });
      }
    }
  }

  /** Reads each waiting command once: commands that must keep waiting do not hide later ones. */
  async #carryOutAll(): Promise<void> {
    const { store, project, stopping } = this.#parts;
    const met = new Set<string>();
    const postponed = new Set<unknown>();
    for (let isMore = true; isMore; ) {
      const waiting = (await store.commands.waiting(project, batch + met.size)).filter(({ id }) => !met.has(id));
      for (const command of waiting) {
        // A stopping daemon leaves the remaining commands to the next daemon.
        if (stopping.aborted) return;
        met.add(command.id);
        // Commands about one issue keep their order; others do not wait for it.
        if (postponed.has(subjectOf(command))) continue;
        if (!(await this.#carryOut(command))) postponed.add(subjectOf(command));
      }
      isMore = waiting.length >= batch;
    }
    // A command that is awaited here but no longer waits was answered earlier, or by another daemon.
    for (const id of [...this.#awaited.keys()].filter((each) => !met.has(each))) {
      const result = (await store.commands.read(id))?.result ?? null;
      if (result !== null) this.#answer(id, result);
    }
  }

  #answer(commandId: string, result: CommandResult | null): void {
    this.#awaited.get(commandId)?.resolve(result);
    this.#awaited.delete(commandId);
  }

  /** Returns false when the command has to wait; the next tick tries again. */
  async #carryOut(command: Command): Promise<boolean> {
    const { store, clock, logger, pause } = this.#parts;
    let answer: CommandAnswer | null;
    try {
      answer = this.#unwritten.get(command.id) ?? (await executeCommand(this.#parts, command));
      // It goes on, and asks for a tick at its end.
      if (answer === null) return false;
    } catch (thrown) {
      const error = toBatonError(thrown);
      if (error.retryable) {
        // A daemon that is gone may have left the issue; once it is inherited, the command can be carried out.
        if (error.code === 'claim_lost') this.#parts.findOrphansSoon();
        logger.warn('command_postponed', { command_id: command.id, error });
        return false;
      }
      answer = refused(error.code, error.message, error.details);
    }
    this.#unwritten.set(command.id, answer);
    const result = { at: clock.now(), ...answer };
    // If another daemon answered first, its answer counts: the next pass reads it.
    const isFirst = await store.commands.finish(command.id, result);
    this.#unwritten.delete(command.id);
    if (isFirst) this.#answer(command.id, result);
    pause.answered(command.id);
    if (answer.status === 'done') this.#parts.activity.note();
    logger.info('command_answered', { command_id: command.id, kind: command.kind, ...answer });
    return true;
  }
}

/**
 * Commands with the same subject keep their order: all about one issue or task, all about none. Each prune stands alone.
 */
function subjectOf({ id, kind, payload }: Command): unknown {
  return kind === 'workspaces_prune' || kind === 'prune' ? id : (payload.issue ?? payload.task);
}
