import type { CommandRequest } from '../../../server/api/schema/command.ts';
import type { Now } from '../../../server/api/schema/now.ts';
import { isOf, selectionOf, type TopRow } from '../lines/top-rows.ts';
import { rowOf, type TopState, type Wish, withRows } from '../top-state.ts';
import { answerPrompt } from './answer-prompt.ts';
import type { Key } from './decode-keys.ts';
import { emptyInput } from './input-line.ts';
import { pauseOrResume, projectOf } from './pause-or-resume.ts';
import { type Pressed, stay, tell } from './pressed.ts';

/**
 * What a key does. The answer of the daemon goes away with it. A paste is only ever a text: a line break or a letter in
 * it is no command.
 */
export function pressKey(before: TopState, key: Key, pageRows: number): Pressed {
  const state = { ...before, message: null };
  if (key.name === 'interrupt') return { state, effect: { do: 'interrupt' } };
  if (key.name === 'redraw') return { state, effect: { do: 'redraw' } };
  if (state.prompt !== null) return answerPrompt(state, state.prompt, key);
  if (key.name === 'paste') return stay(state);
  if (key.name === 'text') return pressLetter(state, key.text, pageRows);
  switch (key.name) {
    case 'up':
      return stay(move(state, -1));
    case 'down':
      return stay(move(state, 1));
    case 'page_up':
      return stay(move(state, -pageRows));
    case 'page_down':
      return stay(move(state, pageRows));
    case 'home':
      return stay(move(state, Number.NEGATIVE_INFINITY));
    case 'end':
      return stay(move(state, Number.POSITIVE_INFINITY));
    case 'tab':
      return stay(nextList(state, 1));
    case 'back_tab':
      return stay(nextList(state, -1));
    case 'enter':
    case 'right':
      return state.screen === 'list' ? openDetails(state, false) : stay(state);
    case 'escape':
      return stay(state.screen === 'list' ? withRows({ ...state, filter: '' }) : goBack(state));
    case 'left':
    case 'backspace':
      return stay(goBack(state));
    default:
      return stay(state);
  }
}

function pressLetter(state: TopState, letter: string, pageRows: number): Pressed {
  switch (letter) {
    case 'q':
      return { state, effect: { do: 'quit' } };
    case 'j':
      return stay(move(state, 1));
    case 'k':
      return stay(move(state, -1));
    case ' ':
      return stay(move(state, pageRows));
    case 'g':
      return stay(move(state, Number.NEGATIVE_INFINITY));
    case 'G':
      return stay(move(state, Number.POSITIVE_INFINITY));
    case '?':
      return stay({ ...state, screen: state.screen === 'help' ? 'list' : 'help', pageTop: 0 });
    case '/':
      return stay({ ...state, screen: 'list', prompt: { kind: 'filter', input: { before: state.filter, after: '' } } });
    case 'p':
      return onProject(state, (now) => submit(state, projectWish(now.project, pauseOrResume(now))));
    case 'd':
      return onProject(state, ({ project }) => {
        const label = `Drain ${project}: start nothing new, and end with the last run?`;
        return stay({ ...state, prompt: { kind: 'confirm', label, wish: projectWish(project, 'drain') } });
      });
    default:
      return state.screen === 'help' ? stay(state) : onIssue(state, letter);
  }
}

/** Keys that are about the issue of the selected row. */
function onIssue(state: TopState, letter: string): Pressed {
  if (!'srRatoh'.includes(letter)) return stay(state);
  const row = rowOf(state);
  if (row === null) return tell(state, 'There is nothing selected.');
  const issue = row.issueId;
  if (issue === null) return tell(state, 'This is not about an issue.');
  const text = (what: 'retry' | 'steer' | 'handback'): Pressed => {
    const { project, identifier } = row;
    return stay({ ...state, prompt: { kind: 'text', what, project, issueId: issue, identifier, input: emptyInput } });
  };
  switch (letter) {
    case 's':
      return confirm(state, row, `Stop the run of ${row.identifier}, and hold it?`, { kind: 'issue_stop', issue });
    case 'o':
      return confirm(state, row, `End the agent of ${row.identifier} and go on by hand?`, {
        kind: 'issue_takeover',
        issue,
      });
    case 'r':
      return submit(state, {
        project: row.project,
        name: `retry ${row.identifier}`,
        request: { kind: 'issue_retry', issue },
      });
    case 'R':
      return text('retry');
    case 't':
      return text('steer');
    case 'h':
      return text('handback');
    default:
      return openDetails(state, true);
  }
}

/** With several projects the one of the selected row is meant. */
function onProject(state: TopState, act: (now: Now) => Pressed): Pressed {
  const now = projectOf(state);
  return now === null ? tell(state, 'Select a row of the project that is meant.') : act(now);
}

function projectWish(project: string, kind: 'pause' | 'resume' | 'drain'): Wish {
  return { project, name: `${kind} ${project}`, request: { kind } };
}

function confirm(state: TopState, row: TopRow, label: string, request: CommandRequest): Pressed {
  const wish = { project: row.project, name: `${request.kind.replace('issue_', '')} ${row.identifier}`, request };
  return stay({ ...state, prompt: { kind: 'confirm', label, wish } });
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

function goBack(state: TopState): TopState {
  if (state.screen !== 'list') return { ...state, screen: 'list', details: null, pageTop: 0 };
  return state;
}

function move(state: TopState, by: number): TopState {
  // The frame knows where a page ends, and tells.
  if (state.screen !== 'list') return { ...state, pageTop: Math.min(1e6, Math.max(0, state.pageTop + by)) };
  const row = rowOf(state);
  if (row === null) return state;
  const to = Math.max(0, Math.min(state.rows.length - 1, state.rows.indexOf(row) + by));
  return { ...state, selection: selectionOf(state.rows, state.rows[to] ?? row) };
}

/** The first row of the list after this one, or before it. */
function nextList(state: TopState, by: 1 | -1): TopState {
  const row = rowOf(state);
  if (row === null || state.screen !== 'list') return state;
  const firsts = state.rows.filter(({ list }, at) => at === 0 || state.rows[at - 1]?.list !== list);
  const here = firsts.findIndex(({ list }) => list === row.list);
  return { ...state, selection: selectionOf(state.rows, firsts.at((here + by) % firsts.length) ?? row) };
}

function submit(state: TopState, wish: Wish): Pressed {
  return { state, effect: { do: 'submit', wish } };
}
