import type { AgentEvent } from '../agent/agent.ts';
import { shortWords, wordsOfAnswer } from '../core/command/person-words.ts';
import type { AgentQuestion, QuestionAnswer } from '../core/command/question.ts';
import { fenceParts, type PromptPart } from '../core/text/fence.ts';
import type { Redactor } from '../core/text/redact.ts';

export interface TurnPrompt {
  readonly turn: number;
  readonly text: string;
  readonly fenceMark: string;
  readonly redactor: Redactor;
  readonly at: number;
  readonly pid: number | null;
}

/** In JSON a character takes at most six bytes, and a line of a transcript at most 256 KB. */
const charactersAnEvent = 32_000;

/**
 * The prompt of a turn for the transcript: in parts, with text of untrusted authors marked, and without secrets.
 * Joined, the parts of all these events are the prompt; a long prompt takes several events.
 */
export function promptEvents({ turn, text, fenceMark, redactor, at, pid }: TurnPrompt): readonly AgentEvent[] {
  const pieces = piecesOf(redactor.redact(fenceParts(text, fenceMark)));
  const { length } = text;
  return pieces.map((parts, index) => ({
    name: 'turn_prompt',
    at,
    pid,
    summary: `prompt of turn ${turn}, ${length} characters${pieces.length === 1 ? '' : ` (${index + 1} of ${pieces.length})`}`,
    payload: {
      turn,
      parts: parts.map((part) => ({ text: part.text, is_untrusted: part.isUntrusted })),
    },
  }));
}

function piecesOf(parts: readonly PromptPart[]): readonly (readonly PromptPart[])[] {
  const pieces: PromptPart[][] = [[]];
  let left = charactersAnEvent;
  for (const { text, isUntrusted } of parts) {
    for (let at = 0; at < text.length; ) {
      if (left <= 0) {
        pieces.push([]);
        left = charactersAnEvent;
      }
      const end = wholeCharacter(text, at + left);
      pieces.at(-1)?.push({ text: text.slice(at, end), isUntrusted });
      left -= end - at;
      at = end;
    }
  }
  return pieces;
}

/** Never splits a surrogate pair. */
function wholeCharacter(text: string, at: number): number {
  const isPair = /[\ud800-\udbff]/.test(text[at - 1] ?? '') && /[\udc00-\udfff]/.test(text[at] ?? '');
  return isPair ? at + 1 : Math.min(at, text.length);
}

/** What a person said to an agent. */
export type PersonWords =
  | { readonly kind: 'steer' | 'note'; readonly text: string }
  | { readonly kind: 'answer'; readonly question: AgentQuestion; readonly answer: QuestionAnswer };

/**
 * The transcript event for these words. Its summary line contains them, so that a search finds them, but no secrets.
 */
export function personEvent(words: PersonWords, at: number, redactor: Redactor): AgentEvent {
  const text = words.kind === 'answer' ? wordsOfAnswer(words.question, words.answer) : words.text;
  const about = words.kind === 'answer' ? { question: words.question.text } : {};
  const { text: said, ...more } = redactor.redact({ text, ...about });
  return {
    name: 'person_said',
    at,
    pid: null,
    summary: `${starts[words.kind]}: ${shortWords(said)}`,
    payload: { kind: words.kind, ...more, text: said },
  };
}

const starts = { steer: 'a person says', note: 'a person notes', answer: 'a person answers' } as const;
