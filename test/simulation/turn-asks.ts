import type { SessionRequest } from '../../src/agent/agent.ts';
import type { AgentQuestion } from '../../src/core/command/question.ts';
import type { AskScript } from './agent-script.ts';
import type { Incarnation } from './incarnation.ts';
import type { SimulatedProcess } from './process-table.ts';
import type { World } from './world.ts';

export interface AskingTurn {
  readonly world: World;
  readonly incarnation: Incarnation;
  readonly request: SessionRequest;
  readonly process: SimulatedProcess;
  /** Whether it waits for a person, so that its silence is not counted. */
  readonly onAsking: (isAsking: boolean) => void;
}

/** The questions of an agent in one turn, some at once. It does not end its turn before they are settled. */
export class TurnAsks {
  readonly #turn: AskingTurn;
  #open = 0;
  #then: (() => void) | null = null;

  constructor(turn: AskingTurn) {
    this.#turn = turn;
  }

  play(scripts: readonly AskScript[]): void {
    const { world, incarnation, process } = this.#turn;
    for (const script of scripts)
      world.later(process, script.afterMs, () => {
        if (!incarnation.isDead && !world.isCalm) incarnation.deliver(() => void this.#ask(script));
      });
  }

  /** Now, or when the last question is settled. */
  whenNone(act: () => void): void {
    if (this.#open === 0) act();
    else this.#then = act;
  }

  async #ask({ takenBackMs, isYesOrNo }: AskScript): Promise<void> {
    const { world, incarnation, request, process, onAsking } = this.#turn;
    const text = world.questions.ask(process.issueId, request.runId);
    world.trace.tell('asks', process.issueId, request.runId, text);
    world.tally('question');
    const takenBack = new AbortController();
    if (takenBackMs !== null) world.later(process, takenBackMs, () => incarnation.deliver(() => takenBack.abort()));
    this.#open += 1;
    onAsking(true);
    await request.ask(questionOf(text, isYesOrNo), takenBackMs === null ? undefined : takenBack.signal);
    this.#open -= 1;
    if (incarnation.isDead || this.#open > 0) return;
    onAsking(false);
    this.#then?.();
  }
}

function questionOf(text: string, isYesOrNo: boolean): AgentQuestion {
  const field = { name: 'which', label: 'Which', options: ['left', 'right'], allowsOther: true, isSecret: false };
  return { kind: isYesOrNo ? 'command' : 'input', text, detail: '', fields: isYesOrNo ? [] : [field] };
}
