import { type ReadonlySignal, signal } from '@preact/signals';
import { later } from './clock.ts';

/** The result of an action that has no row to show it. */
export interface Notice {
  readonly text: string;
  readonly isRefusal: boolean;
  /** The page that it is about. */
  readonly href?: string | null;
}

const shown = signal<Notice | null>(null);
const readableMs = 8_000;
let forget = (): void => {};

export const notice: ReadonlySignal<Notice | null> = shown;

/** A refusal stays until it is dismissed; a success disappears by itself. */
export function showNotice(next: Notice): void {
  forget();
  shown.value = next;
  forget = next.isRefusal ? () => {} : later(readableMs, dismissNotice);
}

export function dismissNotice(): void {
  shown.value = null;
}
