import type { AgentEvent } from '../agent/agent.ts';
import { shortWords, wordsOfAnswer } from '../core/command/person-words.ts';
import type { AgentQuestion, QuestionAnswer } from '../core/command/question.ts';
import type { Redactor } from '../core/text/redact.ts';

/** What a person said to an agent. */
export type PersonWords =
  | { readonly kind: 'steer' | 'note'; readonly text: string }
  | { readonly kind: 'answer'; readonly question: AgentQuestion; readonly answer: QuestionAnswer };

/**
 * The event that tells it, for the transcript: its line has the words, so that whoever searches finds them. What is secret
 * in them is not told.
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
