import type { TopRow } from '../lines/top-rows.ts';
import type { Message, TopState, Wish } from '../top-state.ts';

/** What is to be done beside drawing. */
export type Effect =
  | { readonly do: 'quit' }
  | { readonly do: 'interrupt' }
  | { readonly do: 'redraw' }
  /** Read what is known of the issue; `thenAnswer`: and begin to answer what it asks. */
  | { readonly do: 'look'; readonly row: TopRow; readonly thenAnswer: boolean }
  | { readonly do: 'submit'; readonly wish: Wish };

export interface Pressed {
  readonly state: TopState;
  readonly effect: Effect | null;
}

export function stay(state: TopState): Pressed {
  return { state, effect: null };
}

export function tell(state: TopState, text: string, tone: Message['tone'] = 'warn'): Pressed {
  return stay({ ...state, message: { text, tone } });
}
