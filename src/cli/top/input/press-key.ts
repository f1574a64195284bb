import type { CommandRequest } from '../../../client/schema/command.ts';
import type { Now } from '../../../client/schema/now.ts';
import { isOf, selectionOf, type TopRow } from '../lines/top-rows.ts';
import {
  type Pressed,
  type Prompt,
  pauseOrResume,
  projectOf,
  rowOf,
  stay,
  submit,
  type TopState,
  type Wish,
  warn,
  withRows,
} from '../top-state.ts';
import { answerPrompt } from './answer-prompt.ts';
import type { Key } from './decode-keys.ts';
import { emptyInput } from './input-line.ts';

/** What some keys do, and how the screen names them. */
interface Binding {
  /** Names of keys, and letters; the bottom of the screen shows the first. */
  readonly keys: readonly [string, ...string[]];
  readonly press: (state: TopState, pageRows: number) => Pressed;
  /** Its line on the help page. */
  readonly help?: readonly [keys: string, what: string];
  /** Its word at the bottom of the screen; null while it is not useful. */
  readonly foot?: (state: TopState) => string | null;
}

/** Every key, in the order of the help page and of the bottom of the screen. */
export const bindings: readonly Binding[] = [
  {
    keys: ['?'],
    help: ['?', 'this page; Esc goes back'],
    press: (state) => stay({ ...state, screen: state.screen === 'help' ? 'list' : 'help', pageTop: 0 }),
  },
  { keys: ['q'], help: ['q', 'leave this view'], press: (state) => ({ state, effect: { do: 'quit' } }) },
  {
    keys: ['down', 'j'],
    help: ['↑ ↓  j k', 'go up and down; PgUp, PgDn, g and G go further'],
    press: (state) => move(state, 1),
  },
  { keys: ['up', 'k'], press: (state) => move(state, -1) },
  { keys: ['page_down', ' '], press: move },
  { keys: ['page_up'], press: (state, pageRows) => move(state, -pageRows) },
  { keys: ['home', 'g'], press: (state) => move(state, Number.NEGATIVE_INFINITY) },
  { keys: ['end', 'G'], press: (state) => move(state, Number.POSITIVE_INFINITY) },
  { keys: ['tab'], help: ['Tab', 'go to the next list'], press: (state) => nextList(state, 1) },
  { keys: ['back_tab'], press: (state) => nextList(state, -1) },
  {
    keys: ['enter', 'right'],
    help: ['Enter', 'why an issue is there, what it asks, its last messages'],
    press: (state) => (state.screen === 'list' ? openDetails(state, false) : stay(state)),
  },
  { keys: ['left', 'backspace'], press: goBack },
  {
    keys: ['escape'],
    press: (state) => (state.screen === 'list' ? stay(withRows({ ...state, filter: '' })) : goBack(state)),
  },
  ...issueKeys().map(onIssue),
  {
    keys: ['p'],
    help: ['p', 'pause (start nothing new), or resume'],
    foot: (state) => {
      const now = projectOf(state);
      return now === null ? null : pauseOrResume(now);
    },
    press: (state) => onProject(state, (now) => submit(state, projectWish(now, pauseOrResume(now)))),
  },
  {
    keys: ['d'],
    help: ['d', 'drain: stop Baton after running agents finish'],
    press: (state) =>
      onProject(state, (now) => {
        const label = `Drain ${now.project}: stop Baton after running agents finish?`;
        return ask(state, { kind: 'confirm', label, wish: projectWish(now, 'drain') });
      }),
  },
  {
    keys: ['/'],
    help: ['/', 'show only rows with a word; Esc shows all again'],
    foot: (state) => (state.filter === '' ? 'filter' : null),
    press: (state) => ask({ ...state, screen: 'list' }, { kind: 'filter', input: { before: state.filter, after: '' } }),
  },
];

const byKey = new Map(bindings.flatMap(({ keys, press }) => keys.map((key) => [key, press])));

/**
 * Applies a key, and clears the last answer of the daemon. A paste is always text: a line break or a letter in it is
 * not a command.
 */
export function pressKey(before: TopState, key: Key, pageRows: number): Pressed {
  const state = { ...before, message: null };
  if (key.name === 'interrupt' || key.name === 'redraw') return { state, effect: { do: key.name } };
  if (state.prompt !== null) return answerPrompt(state, state.prompt, key);
  const press = byKey.get(key.name === 'text' ? key.text : key.name);
  return press === undefined ? stay(state) : press(state, pageRows);
}

/** A key that acts on the issue of the selected row. */
interface IssueKey {
  readonly key: string;
  readonly help?: Binding['help'];
  /** Its word at the bottom of the screen, and the rows on which it appears. */
  readonly word: string;
  readonly when: (row: TopRow, agents: readonly string[]) => boolean;
  /** Asks for yes or no, or for a text, before it acts. */
  readonly confirm?: (identifier: string) => string;
  readonly text?: (identifier: string, agents: readonly string[]) => string;
  /** The command; null when it needs a text. Without `request`, the key answers the question of the issue. */
  readonly request?: (issue: string, text: string) => CommandRequest | null;
}

function issueKeys(): readonly IssueKey[] {
  return [
    { key: 'a', help: ['a', 'answer the question of an issue'], word: 'answer', when: asks },
    {
      key: 't',
      help: ['t', 'send a message to the running agent'],
      word: 'steer',
      when: isRunning,
      text: (name) => `Say to the agent of ${name}`,
      request: (issue, text) => (text === '' ? null : { kind: 'issue_steer', issue, text }),
    },
    {
      key: 'r',
      help: ['r  R', 'retry now; with a note to the agent'],
      word: 'retry',
      when: canRetry,
      request: (issue) => ({ kind: 'issue_retry', issue }),
    },
    {
      key: 'R',
      word: 'with a note',
      when: canRetry,
      text: (name) => `Retry ${name} with the note`,
      request: (issue, text) => ({ kind: 'issue_retry', issue, ...noteOf(text) }),
    },
    {
      key: 'A',
      help: ['A', 'retry now with another agent, where the file has several'],
      word: 'with agent',
      when: (row, agents) => canRetry(row) && agents.length > 0,
      text: (name, agents) => `Retry ${name} with the agent (${agents.join(', ')})`,
      request: (issue, text) => (text === '' ? null : { kind: 'issue_retry', issue, agent: text }),
    },
    {
      key: 's',
      help: ['s', 'stop the run of an issue, and hold the issue'],
      word: 'stop',
      when: isRunning,
      confirm: (name) => `Stop the run of ${name}, and hold it?`,
      request: (issue) => ({ kind: 'issue_stop', issue }),
    },
    {
      key: 'o',
      help: ['o', 'take an issue over and continue by hand'],
      word: 'take over',
      when: (row) => isRunning(row) || asks(row),
      confirm: (name) => `Stop the agent of ${name} and continue by hand?`,
      request: (issue) => ({ kind: 'issue_takeover', issue }),
    },
    {
      key: 'h',
      help: ['h', 'hand it back to an agent'],
      word: 'hand back',
      when: (row) => row.list === 'needs_you' && row.of.actions.includes('issue_handback'),
      text: (name) => `Hand ${name} back; a note is optional`,
      request: (issue, text) => ({ kind: 'issue_handback', issue, ...noteOf(text) }),
    },
  ];
}

function onIssue({ key, help, word, when, confirm, text, request }: IssueKey): Binding {
  return {
    keys: [key],
    ...(help === undefined ? {} : { help }),
    foot: (state) => {
      const row = rowOf(state);
      return row !== null && when(row, agentsOf(state, row)) ? word : null;
    },
    press: (state) => {
      if (state.screen === 'help') return stay(state);
      const row = rowOf(state);
      if (row === null) return warn(state, 'Select a row first.');
      const { issueId: issue, identifier, project } = row;
      if (issue === null) return warn(state, 'This is not about an issue.');
      if (request === undefined) return openDetails(state, true);
      const agents = agentsOf(state, row);
      if (key === 'A' && agents.length === 0) return warn(state, 'The workflow file has only one agent.');
      const wishOf = (typed: string): Wish | null => {
        const asked = request(issue, typed);
        const name = `${asked?.kind.replace('issue_', '')} ${identifier}`;
        return asked === null ? null : { project, name, request: asked };
      };
      if (text !== undefined)
        return ask(state, { kind: 'text', label: text(identifier, agents), wish: wishOf, input: emptyInput });
      const wish = wishOf('');
      if (wish === null) return stay(state);
      return confirm === undefined
        ? submit(state, wish)
        : ask(state, { kind: 'confirm', label: confirm(identifier), wish });
    },
  };
}

function agentsOf({ nows }: TopState, { project }: TopRow): readonly string[] {
  return nows.find((now) => now.project === project)?.vitals.agents ?? [];
}

function isRunning({ list }: TopRow): boolean {
  return list === 'running';
}

function asks({ list, of }: TopRow): boolean {
  if (list === 'running') return of.waits_for_person;
  return list === 'needs_you' && of.question_id !== null;
}

function canRetry(row: TopRow): boolean {
  if (row.issueId === null || asks(row)) return false;
  return row.list === 'waiting' || (row.list === 'needs_you' && row.of.kind !== 'review');
}

/** With several projects, the project of the selected row. */
function onProject(state: TopState, act: (now: Now) => Pressed): Pressed {
  const now = projectOf(state);
  return now === null ? warn(state, 'Select a row of the project that you mean.') : act(now);
}

function projectWish({ project }: Now, kind: 'pause' | 'resume' | 'drain'): Wish {
  return { project, name: `${kind} ${project}`, request: { kind } };
}

function noteOf(text: string): { readonly note?: string } {
  return text === '' ? {} : { note: text };
}

function ask(state: TopState, prompt: Prompt): Pressed {
  return stay({ ...state, prompt });
}

function openDetails(state: TopState, thenAnswer: boolean): Pressed {
  const row = rowOf(state);
  if (row === null) return stay(state);
  const selection = selectionOf(state.rows, row);
  const details = state.details !== null && isOf(row, state.details) ? state.details : null;
  const pageTop = state.screen === 'details' ? state.pageTop : 0;
  return {
    state: { ...state, screen: 'details', selection, details, pageTop },
    effect: { do: 'look', row, thenAnswer },
  };
}

function goBack(state: TopState): Pressed {
  return stay(state.screen === 'list' ? state : { ...state, screen: 'list', details: null, pageTop: 0 });
}

function move(state: TopState, by: number): Pressed {
  // The frame knows where a page ends.
  if (state.screen !== 'list') return stay({ ...state, pageTop: Math.min(1e6, Math.max(0, state.pageTop + by)) });
  const row = rowOf(state);
  if (row === null) return stay(state);
  const to = Math.max(0, Math.min(state.rows.length - 1, state.rows.indexOf(row) + by));
  return stay({ ...state, selection: selectionOf(state.rows, state.rows[to] ?? row) });
}

/** The first row of the next or the previous list. */
function nextList(state: TopState, by: 1 | -1): Pressed {
  const row = rowOf(state);
  if (row === null || state.screen !== 'list') return stay(state);
  const firsts = state.rows.filter(({ list }, at) => at === 0 || state.rows[at - 1]?.list !== list);
  const here = firsts.findIndex(({ list }) => list === row.list);
  return stay({ ...state, selection: selectionOf(state.rows, firsts.at((here + by) % firsts.length) ?? row) });
}
