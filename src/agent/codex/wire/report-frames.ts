import type { Clock } from '../../../clock/clock.ts';
import type { QuotaWindow } from '../../../core/account/account.ts';
import type { TokenUsage } from '../../agent.ts';
import { summaryOfFrame } from '../turn/event-summary.ts';
import type { EventTeller } from '../turn/event-teller.ts';
import { quotaWindowsIn } from '../turn/quota-windows.ts';
import { TokenMeter } from '../turn/token-usage.ts';
import { type Fields, fieldsOf, textOf } from './fields.ts';
import { DeltaMerger, isDelta } from './merge-deltas.ts';

/** Of what is begun and may never end. */
const mostKept = 500;
/** Of all its text, in characters; the newest is kept however long it is. */
const mostText = 16 * 1024 * 1024;

/**
 * Tells what Codex reports of its work as events, with tokens and quota where a frame carries them. It decides nothing:
 * how a turn goes on is the session's.
 */
export class FrameReporter {
  readonly meter = new TokenMeter();
  readonly #clock: Clock;
  readonly #teller: EventTeller;
  readonly #deltas: DeltaMerger;
  readonly #windows = new Map<string, QuotaWindow>();
  readonly #changes = new Map<string, { readonly item: Fields; readonly length: number }>();

  constructor(clock: Clock, teller: EventTeller) {
    this.#clock = clock;
    this.#teller = teller;
    this.#deltas = new DeltaMerger(clock, ({ summary, ...payload }) =>
      teller.tell('notification', summary, { payload }),
    );
  }

  /** The quota as it was last told. */
  get windows(): readonly QuotaWindow[] {
    return [...this.#windows.values()];
  }

  /** A file change that was begun and not ended yet: an approval names only the item. */
  changesOf(itemId: string): Fields | null {
    return this.#changes.get(itemId)?.item ?? null;
  }

  report(method: string, params: Fields, whole: Fields): void {
    if (isDelta(method)) {
      this.#deltas.add(method, params);
      return;
    }
    const item = fieldsOf(params.item);
    const itemId = textOf(item.id) ?? '';
    const isChange = method === 'item/started' && item.type === 'fileChange';
    if (isChange) this.#keepChange(itemId, item);
    if (method === 'item/completed') {
      this.#deltas.drop(itemId);
      this.#changes.delete(itemId);
    }
    if (method === 'model/rerouted') this.meter.model = textOf(params.toModel) ?? this.meter.model;
    const usage = this.meter.read(method, params, whole);
    const quota = quotaWindowsIn(params, this.#clock.now());
    for (const window of quota)
      if (this.#windows.has(window.name) || this.#windows.size < mostKept) this.#windows.set(window.name, window);
    const hasNumbers = usage !== null || quota.length > 0;
    const summary = endsTurn.has(method) ? null : summaryOfFrame(method, params);
    if (summary === null && !hasNumbers) return;
    this.#teller.tell('notification', summary ?? tokens(usage), {
      payload: whole,
      ...(usage === null ? {} : { usage }),
      ...(quota.length === 0 ? {} : { quota }),
    });
  }

  #keepChange(itemId: string, item: Fields): void {
    this.#changes.delete(itemId);
    const { length } = JSON.stringify(item);
    let text = length;
    for (const kept of this.#changes.values()) text += kept.length;
    // The oldest goes first: what is asked about is what was just begun.
    for (const [oldId, old] of this.#changes) {
      if (text <= mostText && this.#changes.size < mostKept) break;
      this.#changes.delete(oldId);
      text -= old.length;
    }
    this.#changes.set(itemId, { item, length });
  }

  /** A turn has ended: what it said is told, and what it had open is no more. */
  endTurn(): void {
    this.#deltas.flush();
    this.#changes.clear();
  }
}

/** The session tells these, with its own judgement. */
const endsTurn: ReadonlySet<string> = new Set(['turn/completed', 'turn/failed', 'turn/cancelled']);

function tokens(usage: TokenUsage | null): string {
  return usage === null ? 'quota' : `tokens so far: ${usage.inputTokens} in, ${usage.outputTokens} out`;
}
