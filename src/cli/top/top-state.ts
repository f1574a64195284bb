import type { CommandRequest } from '../../client/schema/command.ts';
import type { IssueDetail } from '../../client/schema/issue.ts';
import type { Now } from '../../client/schema/now.ts';
import type { Question } from '../../client/schema/question.ts';
import type { RunEvent } from '../../client/schema/run.ts';
import type { InputLine } from './input/input-line.ts';
import type { Sample } from './lines/throughput.ts';
import { type Selection, selectedRow, type TopRow, topRows } from './lines/top-rows.ts';

/** Everything that a frame shows, except the time and the size. */
export interface TopState {
  /** The address of the dashboard, from the last answer. */
  readonly address: string | null;
  readonly nows: readonly Now[];
  /** Wall time of the last answer; null before the first. */
  readonly answeredAt: number | null;
  /** Since when the daemon has not answered, or has refused to, and with which text. */
  readonly gone: { readonly since: number; readonly text: string } | null;
  readonly samples: readonly Sample[];
  readonly tokensPerSecond: number;
  readonly log: readonly string[];
  readonly screen: 'list' | 'details' | 'help';
  /** The rows that match the filter. */
  readonly rows: readonly TopRow[];
  readonly selection: Selection | null;
  /** The first visible line of the list. */
  readonly listTop: number;
  /** The first visible line of the details or the help. */
  readonly pageTop: number;
  readonly details: Details | null;
  readonly filter: string;
  readonly prompt: Prompt | null;
  /** Makes the commands in a text of Baton work where the reader is. */
  readonly here: (text: string) => string;
  /** The result of the last command, or a notice before the first; cleared by the next key. */
  readonly message: Message | null;
}

export interface Message {
  readonly text: string;
  readonly tone: 'plain' | 'good' | 'warn' | 'bad';
}

/** What is known of the issue in the details. */
export interface Details {
  readonly project: string;
  readonly issueId: string | null;
  readonly issue: IssueDetail | null;
  readonly events: readonly RunEvent[];
  /** Why the details are incomplete; null when they are complete. */
  readonly problem: string | null;
}

/** A command before it has its key. */
export interface Wish {
  readonly project: string;
  readonly request: CommandRequest;
  /** The command for people: `retry WORDS-1`. */
  readonly name: string;
}

/** A question that is being answered, field by field. */
export interface Answering {
  readonly project: string;
  readonly identifier: string;
  readonly question: Question;
  readonly values: Readonly<Record<string, string>>;
}

/** The prompt at the bottom of the screen. Its subject was fixed when it was opened. */
export type Prompt =
  | { readonly kind: 'filter'; readonly input: InputLine }
  /** A text that becomes a command; null when an empty text cannot. */
  | {
      readonly kind: 'text';
      readonly label: string;
      readonly wish: (text: string) => Wish | null;
      readonly input: InputLine;
    }
  | { readonly kind: 'confirm'; readonly label: string; readonly wish: Wish }
  | { readonly kind: 'decision'; readonly answering: Answering }
  | { readonly kind: 'field'; readonly answering: Answering; readonly input: InputLine };

export function startState(notice = '', here: TopState['here'] = (text) => text): TopState {
  return {
    address: null,
    nows: [],
    answeredAt: null,
    gone: null,
    samples: [],
    tokensPerSecond: 0,
    log: [],
    screen: 'list',
    rows: [],
    selection: null,
    listTop: 0,
    pageTop: 0,
    details: null,
    filter: '',
    prompt: null,
    here,
    message: notice === '' ? null : { text: notice, tone: 'warn' },
  };
}

/** The state with its rows updated; the selection stays with its issue. */
export function withRows(state: TopState): TopState {
  return { ...state, rows: topRows(state.nows, state.filter) };
}

export function rowOf(state: TopState): TopRow | null {
  return selectedRow(state.rows, state.selection);
}

/** The project that keys act on: the only one, or that of the selected row; null when it is unknown. */
export function projectOf(state: TopState): Now | null {
  const name = state.nows.length === 1 ? state.nows[0]?.project : rowOf(state)?.project;
  return state.nows.find(({ project }) => project === name) ?? null;
}

/** What `p` does to a project: resumes one that a person or the limit of the day has stopped, pauses any other. */
export function pauseOrResume({ vitals, needs_you: needs }: Now): 'pause' | 'resume' {
  const isStopped = needs.some(
    ({ kind, issue_id: id, actions }) => kind === 'limit' && id === null && actions.includes('resume'),
  );
  return vitals.paused !== null || isStopped ? 'resume' : 'pause';
}

/** What a key asks for apart from drawing. */
export type Effect =
  | { readonly do: 'quit' | 'interrupt' | 'redraw' }
  /** Read the details of the issue; `thenAnswer`: and begin to answer its question. */
  | { readonly do: 'look'; readonly row: TopRow; readonly thenAnswer: boolean }
  | { readonly do: 'submit'; readonly wish: Wish };

/** The result of a key. */
export interface Pressed {
  readonly state: TopState;
  readonly effect: Effect | null;
}

export function stay(state: TopState): Pressed {
  return { state, effect: null };
}

export function warn(state: TopState, text: string): Pressed {
  return stay({ ...state, message: { text, tone: 'warn' } });
}

export function submit(state: TopState, wish: Wish): Pressed {
  return { state, effect: { do: 'submit', wish } };
}
