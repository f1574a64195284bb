import type { Clock } from '../../../clock/clock.ts';
import type { QuotaWindow } from '../../../core/account/account.ts';
import type { TokenUsage } from '../../agent.ts';
import type { EventSink } from '../../wire/event-sink.ts';
import { type Fields, fieldsOf, textOf } from '../../wire/fields.ts';
import { DeltaMerger, isDelta } from '../../wire/merge-deltas.ts';
import { summaryOfFrame } from '../turn/event-summary.ts';
import { quotaWindowsIn, reportedLimitsIn } from '../turn/quota-windows.ts';
import { TokenMeter } from '../turn/token-usage.ts';

/** Limit for file changes that began and may never end, and for quota windows. */
const mostKept = 500;
/** Limit for the text of all file changes, in characters; the newest change is kept however long it is. */
const mostText = 16 * 1024 * 1024;

/**
 * Reports the work of Codex as events, with tokens and quota where a frame carries them. It decides nothing: the
 * session decides how a turn continues.
 */
export class FrameReporter {
  readonly meter = new TokenMeter();
  readonly #clock: Clock;
  readonly #events: EventSink;
  readonly #deltas: DeltaMerger;
  readonly #windows = new Map<string, QuotaWindow>();
  readonly #changes = new Map<string, { readonly item: Fields; readonly length: number }>();

  constructor(clock: Clock, events: EventSink) {
    this.#clock = clock;
    this.#events = events;
    this.#deltas = new DeltaMerger(clock, ({ summary, ...payload }) =>
      events.emit('notification', summary, { payload }),
    );
  }

  /** The quota windows as last reported. */
  get windows(): readonly QuotaWindow[] {
    return [...this.#windows.values()];
  }

  /** A file change that began and has not ended: an approval names only the item. */
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
    const rateLimits = reportedLimitsIn(params);
    const hasNumbers = usage !== null || rateLimits !== null;
    const summary = endsTurn.has(method) ? null : summaryOfFrame(method, params);
    if (summary === null && !hasNumbers) return;
    this.#events.emit('notification', summary ?? tokens(usage), {
      payload: whole,
      ...(usage === null ? {} : { usage }),
      ...(quota.length === 0 ? {} : { quota }),
      ...(rateLimits === null ? {} : { rateLimits }),
    });
  }

  #keepChange(itemId: string, item: Fields): void {
    this.#changes.delete(itemId);
    const { length } = JSON.stringify(item);
    let text = length;
    for (const kept of this.#changes.values()) text += kept.length;
    // Drops the oldest first: an approval is about the change that just began.
    for (const [oldId, old] of this.#changes) {
      if (text <= mostText && this.#changes.size < mostKept) break;
      this.#changes.delete(oldId);
      text -= old.length;
    }
    this.#changes.set(itemId, { item, length });
  }

  /** A turn has ended: reports its remaining text and forgets its open changes. */
  endTurn(): void {
    this.#deltas.flush();
    this.#changes.clear();
  }
}

/** The session reports these itself, with its own verdict. */
const endsTurn: ReadonlySet<string> = new Set(['turn/completed', 'turn/failed', 'turn/cancelled']);

function tokens(usage: TokenUsage | null): string {
  return usage === null ? 'quota' : `tokens so far: ${usage.inputTokens} in, ${usage.outputTokens} out`;
}
