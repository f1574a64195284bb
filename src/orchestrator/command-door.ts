import { toBatonError } from '../core/baton-error.ts';
import type { CommandAnswer } from '../core/command.ts';
import type { Command } from '../store/commands.ts';
import type { OrchestratorContext } from './context.ts';
import { executeCommand } from './execute-command.ts';

/** How many waiting commands are read at a time. */
const batch = 50;

/**
 * The one door through which people and programs change scheduling state. Commands wait in the store; whoever writes one
 * knocks, and each tick looks too. They are carried out one after the other in their order; a command whose result is
 * written is never carried out again. A crash between the two repeats it, so every command is one that may be repeated.
 */
export class CommandDoor {
  readonly #context: OrchestratorContext;
  #working: Promise<void> | null = null;
  #knocked = false;

  constructor(context: OrchestratorContext) {
    this.#context = context;
  }

  /** Carries out what waits; resolves when nothing does any more. Never rejects. */
  knock(): Promise<void> {
    this.#knocked = true;
    this.#working ??= this.#work().finally(() => {
      this.#working = null;
    });
    return this.#working;
  }

  async #work(): Promise<void> {
    const { store, project, logger, stopping } = this.#context;
    while (this.#knocked && !stopping.aborted) {
      this.#knocked = false;
      try {
        const waiting = await store.commands.waiting(project, batch);
        const postponed = new Set<unknown>();
        for (const command of waiting) {
          // What a stopping daemon would answer has no effect any more; it waits for the next one.
          if (stopping.aborted) return;
          // Commands about one issue keep their order; others do not wait for it.
          if (postponed.has(command.payload.issue)) continue;
          if (!(await this.#carryOut(command))) postponed.add(command.payload.issue);
        }
        if (waiting.length === batch) this.#knocked = true;
      } catch (error) {
        logger.error('The waiting commands could not be read or answered; the next tick tries again.', { error });
      }
    }
  }

  /** False when it has to wait for better times; the next tick asks again. */
  async #carryOut(command: Command): Promise<boolean> {
    const { store, clock, logger } = this.#context;
    let answer: CommandAnswer;
    try {
      answer = await executeCommand(this.#context, command);
    } catch (thrown) {
      const error = toBatonError(thrown);
      if (error.retryable) {
        logger.warn('A command cannot be carried out yet; it waits.', { command_id: command.id, error });
        return false;
      }
      answer = { status: 'refused', text: error.message };
    }
    await store.commands.finish(command.id, { at: clock.now(), ...answer });
    logger.info('A command was answered.', { command_id: command.id, kind: command.kind, ...answer });
    return true;
  }
}
