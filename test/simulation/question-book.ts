import { questionLine } from '../../src/core/command/answer-text.ts';
import type { QuestionAnswer } from '../../src/core/command/question.ts';

/** One question in the world; its text is its name. */
export interface AskedQuestion {
  readonly text: string;
  readonly issueId: string;
  readonly runId: string;
  /** The runs that received the answer, in order. */
  readonly told: Telling[];
}

export interface Telling {
  readonly runId: string;
  readonly words: string;
  readonly isReminder: boolean;
}

interface PromptedRun {
  readonly runId: string;
  readonly issueId: string;
  /** The prompt contains the whole issue, because the agent does not remember it. */
  readonly isWhole: boolean;
}

/** The beginning of the full prompt of the simulated workflow file. */
export const wholePrompt = 'Do it.';

/** The questions of agents and the runs that received an answer, recorded by the agents themselves. */
export class QuestionBook {
  readonly #asked = new Map<string, AskedQuestion>();
  /** By their line in a prompt. */
  readonly #byLine = new Map<string, string>();
  readonly #waits = new Map<string, { open: number; since: number; totalMs: number }>();
  /** Called with each question that is about to be asked. */
  onAsked: (question: AskedQuestion) => void = () => {};
  /** Called when a run receives an answer; `isReminder` for an agent that cannot remember an earlier delivery. */
  onTold: (question: AskedQuestion, telling: Telling) => void = () => {};
  /** Called with the first prompt of a run and the questions whose answers are in it. */
  onPrompt: (run: PromptedRun, texts: ReadonlySet<string>) => void = () => {};

  /** A new question. */
  ask(issueId: string, runId: string): string {
    const text = `Q${this.#asked.size + 1} of ${issueId}?`;
    const question = { text, issueId, runId, told: [] };
    this.#asked.set(text, question);
    this.#byLine.set(questionLine(text), text);
    this.onAsked(question);
    return text;
  }

  /** A run starts to wait for a person. Returns the function that ends the wait. */
  wait(runId: string, clock: { readonly now: number }): () => void {
    const waits = this.#waits.get(runId) ?? { open: 0, since: 0, totalMs: 0 };
    this.#waits.set(runId, waits);
    if (waits.open === 0) waits.since = clock.now;
    waits.open += 1;
    return () => {
      waits.open -= 1;
      if (waits.open === 0) waits.totalMs += clock.now - waits.since;
    };
  }

  /** How long a run has waited for people so far. */
  waitedMs(runId: string, now: number): number {
    const waits = this.#waits.get(runId);
    if (waits === undefined) return 0;
    return waits.totalMs + (waits.open > 0 ? now - waits.since : 0);
  }

  get(text: string): AskedQuestion | undefined {
    return this.#asked.get(text);
  }

  tell(text: string, telling: Telling): void {
    const question = this.#asked.get(text);
    if (question === undefined) return;
    this.onTold(question, telling);
    question.told.push(telling);
  }

  /** An agent reads its prompt: each answer in it counts as delivered. */
  read(run: Omit<PromptedRun, 'isWhole'>, prompt: string, isFirst: boolean): void {
    const lines = prompt.split('\n');
    // The rule about fences may stand before it.
    const isWhole = lines.includes(wholePrompt);
    const found = lines.flatMap((line, at) => {
      const text = this.#byLine.get(line);
      const words = lines[at + 1]?.match(/^ {2}[^:]*: (.*)/)?.[1];
      return text === undefined || words === undefined ? [] : [{ text, words }];
    });
    for (const { text, words } of found) this.tell(text, { runId: run.runId, words, isReminder: isWhole });
    if (isFirst) this.onPrompt({ ...run, isWhole }, new Set(found.map(({ text }) => text)));
  }
}

/** An answer as it appears in a prompt. */
export function wordsOf({ decision, values }: QuestionAnswer): string {
  const [value] = Object.values(values);
  if (value !== undefined) return value;
  return decision === 'decline' ? 'no' : 'yes';
}
