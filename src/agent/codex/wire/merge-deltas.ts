import type { Clock, Timer } from '../../../clock/clock.ts';
import { type Fields, textOf } from './fields.ts';

/** How often what an agent says bit by bit is told while it says it. */
const toldEveryMs = 250;
/** How much of it is kept until then; the whole comes with the end of the item. */
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
  'item/mcpToolCall/progress': 'goes on',
  'command/exec/outputDelta': 'prints',
  'process/outputDelta': 'prints',
};

export const isDelta = (method: string): boolean => Object.hasOwn(kinds, method);

/** What an item brought since it was last told. */
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
 * Puts the pieces of a stream together, so that a million of them cost a few events and flat memory: at most so many items
 * with so much text each. What an item brought is told at most every 250 ms; when the item itself is told whole, what is
 * left of its pieces is dropped.
 */
export class DeltaMerger {
  readonly #clock: Clock;
  readonly #tell: (merged: MergedDeltas) => void;
  readonly #open = new Map<string, { method: string; threadId: unknown; text: string; merged: number }>();
  #timer: Timer | null = null;

  constructor(clock: Clock, tell: (merged: MergedDeltas) => void) {
    this.#clock = clock;
    this.#tell = tell;
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
    this.#timer ??= this.#clock.schedule(toldEveryMs, () => this.flush());
  }

  /** The item was told whole. */
  drop(itemId: string): void {
    this.#open.delete(itemId);
  }

  /** Tells what is there now. */
  flush(): void {
    this.#timer?.cancel();
    this.#timer = null;
    for (const [itemId, { method, threadId, text, merged }] of this.#open) {
      const summary = `${kinds[method]}: ${text}`;
      this.#tell({ method, params: { itemId, threadId, delta: text, merged }, summary });
    }
    this.#open.clear();
  }
}
