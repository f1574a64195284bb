import { checkAnswer, type QuestionField } from '../../../core/command/question.ts';
import type { CommandRequest } from '../../../server/api/schema/command.ts';
import type { Question } from '../../../server/api/schema/question.ts';
import { type Answering, type Prompt, type TopState, withRows } from '../top-state.ts';
import type { Key } from './decode-keys.ts';
import { editInput, emptyInput, inputText } from './input-line.ts';
import { type Pressed, stay, tell } from './pressed.ts';

/** Begins to answer an open question: by yes or no, or field by field. */
export function beginAnswer(state: TopState, project: string, identifier: string, question: Question): TopState {
  const answering: Answering = { project, identifier, question, values: {} };
  if (question.fields.length === 0) return { ...state, prompt: { kind: 'decision', answering } };
  return askField(state, answering);
}

/** What a key does while something is asked for. Escape leaves everything as it was. */
export function answerPrompt(state: TopState, prompt: Prompt, key: Key): Pressed {
  const closed = { ...state, prompt: null };
  if (key.name === 'escape') return stay(prompt.kind === 'filter' ? withRows({ ...closed, filter: '' }) : closed);
  switch (prompt.kind) {
    case 'confirm':
      return isLetter(key, 'y') ? { state: closed, effect: { do: 'submit', wish: prompt.wish } } : stay(closed);
    case 'decision':
      return decide(closed, prompt.answering, key);
    case 'filter':
      return filter(state, prompt, key);
    case 'text':
      return key.name === 'enter' ? sayText(closed, prompt) : edit(state, prompt, key);
    case 'field':
      return key.name === 'enter' ? fillField(closed, prompt) : edit(state, prompt, key);
  }
}

type TypedPrompt = Extract<Prompt, { kind: 'filter' | 'text' | 'field' }>;

function edit(state: TopState, prompt: TypedPrompt, key: Key): Pressed {
  return stay({ ...state, prompt: { ...prompt, input: editInput(prompt.input, key) } });
}

/** The list follows what is typed. */
function filter(state: TopState, prompt: Extract<Prompt, { kind: 'filter' }>, key: Key): Pressed {
  if (key.name === 'enter') return stay({ ...state, prompt: null });
  const edited = edit(state, prompt, key).state;
  const typed = edited.prompt?.kind === 'filter' ? inputText(edited.prompt.input) : '';
  return stay(withRows({ ...edited, filter: typed.trim() }));
}

function sayText(closed: TopState, prompt: Extract<Prompt, { kind: 'text' }>): Pressed {
  const { what, project, issueId: issue, identifier } = prompt;
  const words = inputText(prompt.input).trim();
  if (words === '' && what === 'steer') return tell(closed, 'There is nothing to say to the agent.');
  const note = words === '' ? {} : { note: words };
  const requests: Readonly<Record<typeof what, CommandRequest>> = {
    steer: { kind: 'issue_steer', issue, text: words },
    retry: { kind: 'issue_retry', issue, ...note },
    handback: { kind: 'issue_handback', issue, ...note },
  };
  const name = `${what === 'handback' ? 'hand back' : what} ${identifier}`;
  return { state: closed, effect: { do: 'submit', wish: { project, name, request: requests[what] } } };
}

function decide(closed: TopState, answering: Answering, key: Key): Pressed {
  if (isLetter(key, 'y')) return give(closed, answering, { decision: 'accept' });
  if (isLetter(key, 'a')) return give(closed, answering, { decision: 'accept_for_session' });
  if (isLetter(key, 'n')) return give(closed, answering, { decision: 'decline' });
  return stay({ ...closed, prompt: { kind: 'decision', answering } });
}

/** One field after the other; each is held against its question at once, so that a mistake is told at once. */
function fillField(closed: TopState, { answering, input }: Extract<Prompt, { kind: 'field' }>): Pressed {
  const { question, values } = answering;
  const field = question.fields[Object.keys(values).length];
  if (field === undefined) return stay(closed);
  const typed = inputText(input).trim();
  if (typed === '') return stay({ ...closed, prompt: declining(answering) });
  const checked = checkAnswer({ ...question, fields: [coreField(field)] }, { text: typed });
  if ('problem' in checked) {
    return tell({ ...closed, prompt: { kind: 'field', answering, input } }, `It does not fit: ${checked.problem}.`);
  }
  const filled = { ...answering, values: { ...values, ...checked.answer.values } };
  if (Object.keys(filled.values).length < question.fields.length) return stay(askField(closed, filled));
  return give(closed, filled, { decision: 'accept', values: filled.values });
}

/** A secret would be written down: it is not asked for, only whether to do without an answer. */
function askField(state: TopState, answering: Answering): TopState {
  const secret = answering.question.fields.find(({ is_secret }) => is_secret);
  if (secret === undefined) return { ...state, prompt: { kind: 'field', answering, input: emptyInput } };
  const text = 'It asks for a secret, and an answer is written down: take the work over (o), or decline.';
  return { ...state, prompt: declining(answering), message: { text, tone: 'warn' } };
}

function declining({ project, identifier, question }: Answering): Prompt {
  const wish = {
    ...{ project, name: `decline to answer ${identifier}` },
    request: { kind: 'question_answer', question: question.id, decision: 'decline' } as const,
  };
  return { kind: 'confirm', label: `Decline to answer ${identifier}?`, wish };
}

type Given = Pick<Extract<CommandRequest, { kind: 'question_answer' }>, 'decision' | 'values'>;

function give(closed: TopState, { project, identifier, question }: Answering, given: Given): Pressed {
  const request: CommandRequest = { kind: 'question_answer', question: question.id, ...given };
  return { state: closed, effect: { do: 'submit', wish: { project, name: `answer ${identifier}`, request } } };
}

function coreField({ name, label, options, allows_other, is_secret }: Question['fields'][number]): QuestionField {
  return { name, label, options, allowsOther: allows_other, isSecret: is_secret };
}

function isLetter(key: Key, letter: string): boolean {
  return key.name === 'text' && key.text.toLowerCase() === letter;
}
