import type { AgentSession } from '../agent/agent.ts';
import { BatonError, toBatonError } from '../core/baton-error.ts';

/** A longer text is not a remark; it belongs in the issue. */
const longestText = 16_384;
const mostKept = 32;

/**
 * What people say to the agent of a run. It is sent during the current turn; if that is impossible, it is kept for the
 * next prompt. What must hold: each text reaches the agent once, or is refused with `command_refused`; a kept text is
 * in the next prompt, and a run that has no next prompt keeps nothing.
 */
export class Steering {
  #session: AgentSession | null = null;
  #onSaid: ((text: string) => void) | null = null;
  /** Texts from before `join`, not yet passed to `onSaid`. */
  #saidBefore: string[] = [];
  #kept: string[] = [];
  #hasBegun = false;
  #isOver = false;
  #wasHeard = false;

  /** The agent is ready. `onSaid` is called with every text that is sent to it or kept for it. */
  join(session: AgentSession, onSaid: (text: string) => void = () => {}): void {
    this.#session = session;
    this.#onSaid = onSaid;
    for (const text of this.#saidBefore.splice(0)) onSaid(text);
  }

  /** Whether a message could still reach the agent: in the current turn, or in another prompt. */
  get canHear(): boolean {
    return !this.#isOver && (this.#hasNextPrompt || this.#session?.steer !== undefined);
  }

  /** Takes the kept texts for the next prompt. */
  take(): readonly string[] {
    const taken = this.#kept;
    this.#kept = [];
    this.#hasBegun = true;
    if (taken.length > 0) this.hear();
    return taken;
  }

  /** Notes that the agent hears a person now. */
  hear(): void {
    this.#wasHeard = true;
  }

  /** Whether the agent has heard a person since the last call. */
  takeHeard(): boolean {
    const wasHeard = this.#wasHeard;
    this.#wasHeard = false;
    return wasHeard;
  }

  /** Closes the run for messages, because no prompt follows. Returns false when a text is kept for another prompt. */
  closeIfNothingIsKept(): boolean {
    if (this.#kept.length > 0) return false;
    this.#isOver = true;
    return true;
  }

  /** The run ends. Returns the texts that the agent will not get any more. */
  close(): readonly string[] {
    this.#isOver = true;
    return this.take();
  }

  async steer(text: string): Promise<'delivered' | 'queued'> {
    if (text.trim() === '') throw refused('nothing_to_say', 'The message is empty.');
    if (text.length > longestText) throw refused('too_long', `The message is longer than ${longestText} characters.`);
    this.#refuseIfOver();
    try {
      if (await this.#session?.steer?.(text)) {
        this.hear();
        this.#reportSaid(text);
        return 'delivered';
      }
    } catch (error) {
      // An agent that refuses a message during its turn may take it before the next one.
      if (!this.#hasNextPrompt)
        throw refused('agent_refuses', `The agent refused the message: ${toBatonError(error).message}`);
    }
    this.#refuseIfOver();
    if (!this.#hasNextPrompt)
      throw refused('agent_cannot_hear', 'This agent takes no messages during a turn, and its run has only one turn.');
    if (this.#kept.length >= mostKept)
      throw refused('too_many_waiting', `${mostKept} messages already wait for the next turn.`);
    this.#kept.push(text);
    this.#reportSaid(text);
    return 'queued';
  }

  #reportSaid(text: string): void {
    if (this.#onSaid === null) this.#saidBefore.push(text);
    else this.#onSaid(text);
  }

  get #hasNextPrompt(): boolean {
    return !this.#hasBegun || this.#session?.remembersTurns === true;
  }

  #refuseIfOver(): void {
    if (this.#isOver) throw refused('run_ending', 'The run is ending.');
  }
}

function refused(problem: string, why: string): BatonError {
  return new BatonError('command_refused', why, { details: { problem } });
}
