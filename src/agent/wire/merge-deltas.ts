import type { Clock, Timer } from '../../clock/clock.ts';
import { type Fields, textOf } from './fields.ts';

/** How often the streamed text of an agent is reported. */
const reportEveryMs = 250;
/** How much streamed text is kept until then; the end of the item brings the whole text. */
const longestPiece = 8_192;
const mostItems = 64;

const kinds: Readonly<Record<string, string>> = {
  'item/agentMessage/delta': 'says',
  'item/plan/delta': 'plans',
  'item/reasoning/summaryTextDelta': 'thinks',
  'item/reasoning/textDelta': 'thinks',
  'item/commandExecution/outputDelta': 'prints',
  'item/fileChange/outputDelta': 'prints',
  'item/fileChange/patchUpdated': 'changes files',
  'item/mcpToolCall/progress': 'continues',
  'command/exec/outputDelta': 'prints',
  'process/outputDelta': 'prints',
};

export const isDelta = (method: string): boolean => Object.hasOwn(kinds, method);

/** The text that an item streamed since its last report. */
export interface MergedDeltas {
  readonly method: string;
  readonly params: {
    readonly itemId: string;
    readonly threadId: unknown;
    readonly delta: string;
    readonly merged: number;
  };
  readonly summary: string;
}

/**
 * Merges the pieces of a stream, so that a million of them cost a few events and constant memory: at most `mostItems`
 * items with at most `longestPiece` characters each. The text of an item is reported at most every 250 ms; when the
 * whole item is reported, its remaining pieces are dropped.
 */
export class DeltaMerger {
  readonly #clock: Clock;
  readonly #report: (merged: MergedDeltas) => void;
  readonly #open = new Map<string, { method: string; threadId: unknown; text: string; merged: number }>();
  #timer: Timer | null = null;

  constructor(clock: Clock, report: (merged: MergedDeltas) => void) {
    this.#clock = clock;
    this.#report = report;
  }

  add(method: string, params: Fields): void {
    const itemId = textOf(params.itemId) ?? method;
    const piece = textOf(params.delta) ?? textOf(params.message) ?? textOf(params.chunk) ?? '';
    const open = this.#open.get(itemId);
    if (open === undefined) {
      if (this.#open.size >= mostItems) this.flush();
      this.#open.set(itemId, { method, threadId: params.threadId, text: piece.slice(0, longestPiece), merged: 1 });
    } else {
      open.merged += 1;
      if (open.text.length < longestPiece) open.text += piece.slice(0, longestPiece - open.text.length);
    }
    this.#timer ??= this.#clock.schedule(reportEveryMs, () => this.flush());
  }

  /** The whole item was reported. */
  drop(itemId: string): void {
    this.#open.delete(itemId);
  }

  /** Reports all pieces that are waiting. */
  flush(): void {
    this.#timer?.cancel();
    this.#timer = null;
    for (const [itemId, { method, threadId, text, merged }] of this.#open) {
      const summary = `${kinds[method]}: ${text}`;
      this.#report({ method, params: { itemId, threadId, delta: text, merged }, summary });
    }
    this.#open.clear();
  }
}
