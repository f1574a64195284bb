import type { CommandRequest } from '../../server/api/schema/command.ts';
import type { IssueDetail } from '../../server/api/schema/issue.ts';
import type { Now } from '../../server/api/schema/now.ts';
import type { Question } from '../../server/api/schema/question.ts';
import type { RunEvent } from '../../server/api/schema/run.ts';
import type { InputLine } from './input/input-line.ts';
import type { Sample } from './lines/throughput.ts';
import { type Selection, selectedRow, type TopRow, topRows } from './lines/top-rows.ts';

/** Everything that a frame is made of, but the time and the size. */
export interface TopState {
  /** Where the dashboard of the last answer is. */
  readonly address: string | null;
  readonly nows: readonly Now[];
  /** Wall time of the last answer; null before the first. */
  readonly answeredAt: number | null;
  /** Since when it does not answer, or refuses to, and what was said instead. */
  readonly gone: { readonly since: number; readonly text: string; readonly isRefusal: boolean } | null;
  readonly samples: readonly Sample[];
  readonly tokensPerSecond: number;
  /** The last lines of the daemon's log. */
  readonly log: readonly string[];
  readonly screen: 'list' | 'details' | 'help';
  /** The rows that the filter lets through. */
  readonly rows: readonly TopRow[];
  readonly selection: Selection | null;
  /** The first line of the list that is seen. */
  readonly listTop: number;
  /** The same of the details or the help. */
  readonly pageTop: number;
  readonly details: Details | null;
  readonly filter: string;
  readonly prompt: Prompt | null;
  /** What came of the last command; until the next key. */
  readonly message: Message | null;
}

export interface Message {
  readonly text: string;
  readonly tone: 'plain' | 'good' | 'warn' | 'bad';
}

/** What is known of the issue that is looked at. */
export interface Details {
  readonly project: string;
  readonly issueId: string | null;
  readonly issue: IssueDetail | null;
  readonly events: readonly RunEvent[];
  /** Why there is no more; null when there is. */
  readonly problem: string | null;
}

/** A command before it has its key. */
export interface Wish {
  readonly project: string;
  readonly request: CommandRequest;
  /** What is done, for people: `retry WORDS-1`. */
  readonly name: string;
}

/** A question that is being answered, field by field. */
export interface Answering {
  readonly project: string;
  readonly identifier: string;
  readonly question: Question;
  readonly values: Readonly<Record<string, string>>;
}

/** What a person is asked for at the bottom of the screen. What it is about was fixed when it was opened. */
export type Prompt =
  | { readonly kind: 'filter'; readonly input: InputLine }
  /** A text that becomes a command; where it may be left out, an empty one does so. */
  | {
      readonly kind: 'text';
      readonly what: 'retry' | 'steer' | 'handback';
      readonly project: string;
      readonly issueId: string;
      readonly identifier: string;
      readonly input: InputLine;
    }
  | { readonly kind: 'confirm'; readonly label: string; readonly wish: Wish }
  | { readonly kind: 'decision'; readonly answering: Answering }
  | { readonly kind: 'field'; readonly answering: Answering; readonly input: InputLine };

export function startState(): TopState {
  return {
    ...{
      address: null,
      nows: [],
      answeredAt: null,
      gone: null,
      samples: [],
      tokensPerSecond: 0,
      log: [],
      screen: 'list',
    },
    ...{ rows: [], selection: null, listTop: 0, pageTop: 0, details: null, filter: '', prompt: null, message: null },
  };
}

/** Its rows after something about them changed; the selection stays with what it is about. */
export function withRows(state: TopState): TopState {
  return { ...state, rows: topRows(state.nows, state.filter) };
}

export function rowOf(state: TopState): TopRow | null {
  return selectedRow(state.rows, state.selection);
}
