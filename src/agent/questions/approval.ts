import { createHash } from 'node:crypto';
import type { AgentQuestion, QuestionAnswer, QuestionKind } from '../../core/command/question.ts';
import { exactBlock, exactLine } from '../../core/text/exact-text.ts';
import { harmlessLine, harmlessLines } from '../../core/text/harmless-line.ts';
import type { Fields } from '../wire/fields.ts';

export type Decision = QuestionAnswer['decision'];

/** An agent's request for permission: the question for a person, and the answer to the agent for each decision. */
export interface Approval<Answer> {
  readonly question: AgentQuestion;
  /** Why a person cannot see the whole request, for the agent; such a request is declined. Null: a person may decide. */
  readonly unseen: string | null;
  /** The request is known to change nothing. A read-only session declines every other one. */
  readonly isRead: boolean;
  readonly answer: (decision: Decision) => Answer;
}

/** The most characters that a person is shown of a request, in the form in which they see them. */
const longestRequestChars = 32_768;
const longestDetail = 8_192;
const longestText = 500;

/** What a request is about: Baton's words, with every foreign text in them quoted. */
export interface Facts {
  readonly kind: QuestionKind;
  readonly text: string;
  /** Blocks of lines. */
  readonly detail: readonly string[];
  /** The fields of the request that the detail shows; all others are added as they are. */
  readonly shown: readonly string[];
  /** What is missing, if the agent did not say what it wants to do. */
  readonly missing?: string;
  readonly isRead?: boolean;
}

/**
 * The approval that shows a request whole, or says why it cannot. `params` has nothing that changes from one run to the
 * next: an answer that came late counts only for the same request.
 */
export function approvalFor<Answer>(
  method: string,
  params: Fields,
  facts: Facts,
  answer: Approval<Answer>['answer'],
): Approval<Answer> {
  const about = Object.entries(params);
  const others = about.filter(([name, value]) => !facts.shown.includes(name) && value !== null && value !== undefined);
  const blocks = [...facts.detail, ...others.flatMap(([name, value]) => block(exactLine(name), json(value)))];
  const detail = blocks.join('\n');
  const unseen =
    facts.missing ??
    (detail.length <= longestRequestChars
      ? null
      : `it is longer than the ${longestRequestChars} characters that a person is shown`);
  const requestHash = createHash('sha256')
    .update(JSON.stringify([method, about]))
    .digest('hex');
  return {
    question: {
      kind: facts.kind,
      text: short(facts.text),
      detail: unseen === null ? detail : '',
      fields: [],
      requestHash,
    },
    unseen,
    isRead: facts.isRead ?? false,
    answer,
  };
}

/** A question for information: nothing is done by its answer, so what is too long for a person is cut. */
export function question(text: string, detail: readonly string[]): AgentQuestion {
  const lines = harmlessLines(detail.join('\n')).trim();
  const kept = lines.length <= longestDetail ? lines : `${lines.slice(0, longestDetail)}\n…`;
  return { kind: 'input', text: oneLine(text), detail: kept, fields: [] };
}

/** Text on one line, short enough for a person to read. */
export function oneLine(text: string): string {
  return short(harmlessLine(text));
}

function short(line: string): string {
  return line.length <= longestText ? line : `${line.slice(0, longestText - 1).toWellFormed()}…`;
}

export function json(value: unknown): string {
  return JSON.stringify(value, null, 2);
}

export function line(label: string, value: unknown): string[] {
  return typeof value !== 'string' || value === '' ? [] : [`${label}: ${exactLine(value)}`];
}

/** A label that says how many lines the text has, and the text below it. */
export function block(label: string, value: string): string[] {
  if (value === '') return [];
  const count = value.split('\n').length;
  return count === 1 ? [`${label}:`, exactBlock(value)] : [`${label} (${count} lines):`, exactBlock(value)];
}
