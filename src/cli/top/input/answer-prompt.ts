import type { CommandRequest } from '../../../client/schema/command.ts';
import type { Question } from '../../../client/schema/question.ts';
import { checkAnswer, type QuestionField } from '../../../core/command/question.ts';
import {
  type Answering,
  type Pressed,
  type Prompt,
  stay,
  submit,
  type TopState,
  warn,
  withRows,
} from '../top-state.ts';
import type { Key } from './decode-keys.ts';
import { editInput, emptyInput, inputText } from './input-line.ts';

/** Starts to answer an open question: by yes or no, or field by field. */
export function beginAnswer(state: TopState, project: string, identifier: string, question: Question): TopState {
  const answering: Answering = { project, identifier, question, values: {} };
  if (question.fields.length === 0) return { ...state, prompt: { kind: 'decision', answering } };
  return askField(state, answering);
}

/** What a key does while a prompt is open. Escape leaves everything unchanged. */
export function answerPrompt(state: TopState, prompt: Prompt, key: Key): Pressed {
  const closed = { ...state, prompt: null };
  if (key.name === 'escape') return stay(prompt.kind === 'filter' ? withRows({ ...closed, filter: '' }) : closed);
  switch (prompt.kind) {
    case 'confirm':
      return letterOf(key) === 'y' ? submit(closed, prompt.wish) : stay(closed);
    case 'decision':
      return decide(closed, prompt.answering, key);
    case 'filter':
      return filter(state, prompt, key);
    case 'text':
      return key.name === 'enter' ? giveText(closed, prompt) : edit(state, prompt, key);
    case 'field':
      return key.name === 'enter' ? fillField(closed, prompt) : edit(state, prompt, key);
  }
}

type TypedPrompt = Extract<Prompt, { kind: 'filter' | 'text' | 'field' }>;

function edit(state: TopState, prompt: TypedPrompt, key: Key): Pressed {
  return stay({ ...state, prompt: { ...prompt, input: editInput(prompt.input, key) } });
}

/** The list follows the typed text. */
function filter(state: TopState, prompt: Extract<Prompt, { kind: 'filter' }>, key: Key): Pressed {
  if (key.name === 'enter') return stay({ ...state, prompt: null });
  const edited = edit(state, prompt, key).state;
  const typed = edited.prompt?.kind === 'filter' ? inputText(edited.prompt.input) : '';
  return stay(withRows({ ...edited, filter: typed.trim() }));
}

function giveText(closed: TopState, { wish: wishOf, input }: Extract<Prompt, { kind: 'text' }>): Pressed {
  const wish = wishOf(inputText(input).trim());
  return wish === null ? warn(closed, 'Write a message first.') : submit(closed, wish);
}

const decisions: Readonly<Record<string, Given['decision']>> = { y: 'accept', a: 'accept_for_session', n: 'decline' };

function decide(closed: TopState, answering: Answering, key: Key): Pressed {
  const decision = decisions[letterOf(key) ?? ''];
  if (decision === undefined) return stay({ ...closed, prompt: { kind: 'decision', answering } });
  return give(closed, answering, { decision });
}

/** One field after the other; each is checked at once. */
function fillField(closed: TopState, { answering, input }: Extract<Prompt, { kind: 'field' }>): Pressed {
  const { question, values } = answering;
  const field = question.fields[Object.keys(values).length];
  if (field === undefined) return stay(closed);
  const typed = inputText(input).trim();
  if (typed === '') return stay({ ...closed, prompt: declining(answering) });
  const checked = checkAnswer({ ...question, fields: [coreField(field)] }, { text: typed });
  if ('problem' in checked)
    return warn({ ...closed, prompt: { kind: 'field', answering, input } }, `It does not fit: ${checked.problem}.`);
  const filled = { ...answering, values: { ...values, ...checked.answer.values } };
  if (Object.keys(filled.values).length < question.fields.length) return stay(askField(closed, filled));
  return give(closed, filled, { decision: 'accept', values: filled.values });
}

/** The store would keep a secret, so the view does not ask for it, only whether to decline. */
function askField(state: TopState, answering: Answering): TopState {
  const secret = answering.question.fields.find(({ is_secret }) => is_secret);
  if (secret === undefined) return { ...state, prompt: { kind: 'field', answering, input: emptyInput } };
  const text = 'It asks for a secret, but answers are recorded: take the issue over (o), or decline.';
  return { ...state, prompt: declining(answering), message: { text, tone: 'warn' } };
}

function declining({ project, identifier, question }: Answering): Prompt {
  const request = { kind: 'question_answer', question: question.id, decision: 'decline' } as const;
  const wish = { project, name: `decline to answer ${identifier}`, request };
  return { kind: 'confirm', label: `Decline to answer ${identifier}?`, wish };
}

type Given = Pick<Extract<CommandRequest, { kind: 'question_answer' }>, 'decision' | 'values'>;

function give(closed: TopState, { project, identifier, question }: Answering, given: Given): Pressed {
  const request: CommandRequest = { kind: 'question_answer', question: question.id, ...given };
  return submit(closed, { project, name: `answer ${identifier}`, request });
}

function coreField({ name, label, options, allows_other, is_secret }: Question['fields'][number]): QuestionField {
  return { name, label, options, allowsOther: allows_other, isSecret: is_secret };
}

function letterOf(key: Key): string | null {
  return key.name === 'text' ? key.text.toLowerCase() : null;
}
