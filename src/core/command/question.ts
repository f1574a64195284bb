import { harmlessLine } from '../text/harmless-line.ts';

/**
 * An agent's question or request for permission, and a person's answer. A backend translates its protocol into this
 * form and the answer back; the store keeps both as JSON.
 */
export interface AgentQuestion {
  readonly kind: QuestionKind;
  /** The question, in one line. */
  readonly text: string;
  /** The facts that a person needs to answer, such as the command or the changed files; several lines, or empty. */
  readonly detail: string;
  /** The fields to fill in; empty for a yes-or-no question. */
  readonly fields: readonly QuestionField[];
  /** Of an approval, a digest of the raw request: two requests with the same one let the same thing be done. */
  readonly requestHash?: string;
}

/** The agent asks to run a command, change files, get more permissions or call a tool; or it needs information. */
export type QuestionKind = 'command' | 'file_change' | 'permission' | 'tool' | 'input';

export interface QuestionField {
  /** How an answer names it. */
  readonly name: string;
  readonly label: string;
  /** The options; empty: any text. */
  readonly options: readonly string[];
  /** Whether a text other than the options is allowed too. */
  readonly allowsOther: boolean;
  /** A secret is not answered through Baton: it would be written down. */
  readonly isSecret: boolean;
}

export interface QuestionAnswer {
  /** `accept_for_session`: also accepts the same request without asking until the session ends. */
  readonly decision: 'accept' | 'accept_for_session' | 'decline';
  /** By the name of the field; one that is missing was not answered. */
  readonly values: Readonly<Record<string, string>>;
}

/** A person's answer to a question: a decision, the only value, or values by field name. */
export interface WantedAnswer {
  readonly decision?: QuestionAnswer['decision'];
  /** For a question with one field its value; for a yes-or-no question `yes`, `always` or `no`. */
  readonly text?: string;
  readonly values?: Readonly<Record<string, string>>;
}

/** A valid answer, or the problem with it. */
export type CheckedAnswer = { readonly answer: QuestionAnswer } | AnswerProblem;

export interface AnswerProblem {
  readonly code: AnswerProblemCode;
  /** The field that it is about; null for the answer as a whole. */
  readonly field: string | null;
  /** The problem and the allowed values, in one line for people. */
  readonly problem: string;
}

export type AnswerProblemCode =
  | 'no_decision'
  | 'unknown_decision'
  | 'contradicts_decision'
  | 'values_with_decline'
  /** Only a yes-or-no question can be answered for the session. */
  | 'not_for_session'
  /** A text without the name of one of several fields. */
  | 'field_not_named'
  | 'unknown_field'
  | 'answered_twice'
  | 'secret'
  | 'no_value'
  | 'too_long'
  | 'not_an_option';

/** A longer value belongs in a file in the workspace. */
const longestValueChars = 100_000;

const decisionWords: Readonly<Record<string, QuestionAnswer['decision']>> = {
  yes: 'accept',
  always: 'accept_for_session',
  no: 'decline',
};
const decisionsAllowed = 'answer yes, always or no';

/**
 * Whether an answer fits its question. What must hold: an accepting answer has a value for every field, one of its
 * options where it has options and allows nothing else, and never a secret. An option is named by its text, in any
 * case, or by its number, counted from 1; the text takes precedence. Every question may be declined.
 */
export function checkAnswer(question: AgentQuestion, wanted: WantedAnswer): CheckedAnswer {
  return question.fields.length === 0 ? checkDecision(wanted) : checkValues(question.fields, wanted);
}

function checkDecision({ decision, text, values = {} }: WantedAnswer): CheckedAnswer {
  const [name] = Object.keys(values);
  if (name !== undefined)
    return refused('unknown_field', name, `the question has no field ${quoted(name)}; ${decisionsAllowed}`);
  if (text === undefined) {
    return decision === undefined
      ? refused('no_decision', null, decisionsAllowed)
      : { answer: { decision, values: {} } };
  }
  const word = text.trim().toLowerCase();
  const meant = Object.hasOwn(decisionWords, word) ? decisionWords[word] : undefined;
  if (meant === undefined)
    return refused('unknown_decision', null, `${quoted(text)} is not a valid answer; ${decisionsAllowed}`);
  if (decision !== undefined && decision !== meant)
    return refused('contradicts_decision', null, `${quoted(text)} contradicts the decision`);
  return { answer: { decision: meant, values: {} } };
}

function checkValues(fields: readonly QuestionField[], wanted: WantedAnswer): CheckedAnswer {
  const { decision = 'accept', text, values = {} } = wanted;
  if (decision === 'decline') {
    const isEmpty = text === undefined && Object.keys(values).length === 0;
    return isEmpty
      ? { answer: { decision, values: {} } }
      : refused(
          'values_with_decline',
          null,
          'a declined question takes no values; leave out the values or the decision',
        );
  }
  if (decision === 'accept_for_session') {
    const why = 'only a yes-or-no question can be accepted for the whole session; give a value instead';
    return refused('not_for_session', null, why);
  }
  const given = new Map(Object.entries(values));
  const [first, second] = fields;
  if (text !== undefined && first !== undefined) {
    if (second !== undefined)
      return refused('field_not_named', null, `the question has several fields; name each: ${names(fields)}`);
    if (given.has(first.name))
      return refused('answered_twice', first.name, `the field ${quoted(first.name)} is answered twice`);
    given.set(first.name, text);
  }
  for (const name of given.keys()) {
    if (!fields.some((field) => field.name === name))
      return refused('unknown_field', name, `the question has no field ${quoted(name)}; it has ${names(fields)}`);
  }
  const chosen: [string, string][] = [];
  for (const field of fields) {
    const checked = checkValue(field, given.get(field.name));
    if ('problem' in checked) return checked;
    chosen.push([field.name, checked.value]);
  }
  return { answer: { decision, values: Object.fromEntries(chosen) } };
}

function checkValue(field: QuestionField, given: string | undefined): { readonly value: string } | AnswerProblem {
  const name = quoted(field.name);
  const no = (code: AnswerProblemCode, problem: string): AnswerProblem => refused(code, field.name, problem);
  if (field.isSecret) {
    const way = 'take over the issue and enter it by hand (`baton takeover ISSUE`), or decline';
    return no('secret', `the field ${name} asks for a secret, and Baton stores every answer; ${way}`);
  }
  const text = given?.trim() ?? '';
  // The exact option comes first, so that checking an accepted value again returns the same value.
  if (given !== undefined && field.options.includes(given)) return { value: given };
  if (given === undefined || text === '') return no('no_value', `the field ${name} has no value; ${allowed(field)}`);
  if (given.length > longestValueChars)
    return no('too_long', `the value of ${name} is longer than ${longestValueChars} characters`);
  if (field.options.length === 0) return { value: given };
  const option = optionMeant(field.options, text);
  if (option !== null) return { value: option };
  if (field.allowsOther) return { value: given };
  return no('not_an_option', `${quoted(given)} is not an option; ${allowed(field)}`);
}

function refused(code: AnswerProblemCode, field: string | null, problem: string): AnswerProblem {
  return { code, field, problem };
}

function optionMeant(options: readonly string[], text: string): string | null {
  if (options.includes(text)) return text;
  const alike = options.filter((option) => option.trim().toLowerCase() === text.toLowerCase());
  if (alike.length > 0) return alike.length === 1 ? (alike[0] ?? null) : null;
  return /^[1-9]\d{0,5}$/.test(text) ? (options[Number(text) - 1] ?? null) : null;
}

function allowed({ name, options, allowsOther }: QuestionField): string {
  if (options.length === 0) return `write any text for ${quoted(name)}`;
  const numbered = options.map((option, at) => `${at + 1} ${quoted(option)}`).join(', ');
  return `${quoted(name)} may be ${numbered}${allowsOther ? ', or any other text' : ''}`;
}

function names(fields: readonly QuestionField[]): string {
  return fields.map(({ name }) => quoted(name)).join(', ');
}

/** The text is foreign, and may be long. */
function quoted(text: string): string {
  return `"${harmlessLine(text).slice(0, 80)}"`;
}
