import type { AgentSession } from '../agent/agent.ts';
import { BatonError, toBatonError } from '../core/baton-error.ts';

/** More is no remark; it belongs into the issue. */
const longestText = 16_384;
const mostKept = 32;

/**
 * What people say to the agent of a run. It is told into the turn that goes on; where that cannot be, it is kept for the
 * next prompt. What must hold: each text is told once, or refused with `command_refused`; what was kept is in the next
 * prompt, and a run that has no next prompt keeps nothing.
 */
export class Steering {
  #session: AgentSession | null = null;
  #onSaid: ((text: string) => void) | null = null;
  /** What was said before there was anybody to tell that. */
  #saidBefore: string[] = [];
  #kept: string[] = [];
  #hasBegun = false;
  #isOver = false;
  #wasHeard = false;

  /** The agent is there. `onSaid` hears of every text that it is told or that is kept for it. */
  join(session: AgentSession, onSaid: (text: string) => void = () => {}): void {
    this.#session = session;
    this.#onSaid = onSaid;
    for (const text of this.#saidBefore.splice(0)) onSaid(text);
  }

  /** Whether anything that is said now could still be told: in the turn that goes on, or in another prompt. */
  get canHear(): boolean {
    return !this.#isOver && (this.#hasNextPrompt || this.#session?.steer !== undefined);
  }

  /** What was kept, for the prompt that is made now. */
  take(): readonly string[] {
    const taken = this.#kept;
    this.#kept = [];
    this.#hasBegun = true;
    if (taken.length > 0) this.hear();
    return taken;
  }

  /** The agent hears a person now. */
  hear(): void {
    this.#wasHeard = true;
  }

  /** Whether the agent has heard a person since this was last asked. */
  takeHeard(): boolean {
    const wasHeard = this.#wasHeard;
    this.#wasHeard = false;
    return wasHeard;
  }

  /** There is no further prompt, unless something is kept for one; tells which. */
  closeIfNothingIsKept(): boolean {
    if (this.#kept.length > 0) return false;
    this.#isOver = true;
    return true;
  }

  /** The run ends. Gives what nobody will be told any more. */
  close(): readonly string[] {
    this.#isOver = true;
    return this.take();
  }

  async steer(text: string): Promise<'told' | 'kept'> {
    if (text.trim() === '') throw refused('nothing_to_say', 'There is nothing to say.');
    if (text.length > longestText) throw refused('too_long', `The text is longer than ${longestText} characters.`);
    this.#refuseIfOver();
    try {
      if (await this.#session?.steer?.(text)) {
        this.hear();
        this.#tellSaid(text);
        return 'told';
      }
    } catch (error) {
      // An agent that does not take it in the middle of its turn may do so before the next.
      if (!this.#hasNextPrompt)
        throw refused('agent_refuses', `The agent does not take it: ${toBatonError(error).message}`);
    }
    this.#refuseIfOver();
    if (!this.#hasNextPrompt)
      throw refused('agent_cannot_hear', 'This agent hears nothing while it works, and a run has one turn.');
    if (this.#kept.length >= mostKept)
      throw refused('too_many_waiting', `${mostKept} texts wait for the next turn already.`);
    this.#kept.push(text);
    this.#tellSaid(text);
    return 'kept';
  }

  #tellSaid(text: string): void {
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
