import type { AgentEvent } from '../agent/agent.ts';
import type { Clock, Timer } from '../clock/clock.ts';
import { toBatonError } from '../core/baton-error.ts';
import type { Logger } from '../core/logger.ts';
import type { RunEventLine } from '../store/run-events.ts';
import type { RunFacts } from '../store/runs.ts';
import type { Store } from '../store/store.ts';
import type { Transcripts } from '../store/transcript-files.ts';
import { mergeFacts } from './merge-facts.ts';

/** Events and figures of runs are written together this often: an agent may tell hundreds in a second. */
const flushEveryMs = 250;

/** So many events of a run wait to be written, and so many are written of a run; the transcript has its own bound. */
const mostWaiting = 5_000;
const mostWritten = 50_000;

interface Pending {
  facts: RunFacts;
  events: Omit<RunEventLine, 'seq'>[];
  /** For the transcript; written once, apart from the store. */
  lines: string[];
  /** Why the last try to write it failed. */
  problem?: unknown;
}

export interface JournalParts {
  readonly store: Store;
  readonly transcripts: Transcripts;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly stopping: AbortSignal;
}

/**
 * What happens in a run between its start and its end, which are the ledger's: gathered, and written soon. What could not
 * be written is kept for the next time; a run's end waits for it.
 */
export class Journal {
  readonly #parts: JournalParts;
  readonly #generations = new Map<string, number>();
  readonly #pending = new Map<string, Pending>();
  readonly #rows = new Map<string, number>();
  #timer: Timer | null = null;
  #writing: Promise<void> = Promise.resolve();

  constructor(parts: JournalParts) {
    this.#parts = parts;
  }

  /** The start of this run is in the store, with this generation. */
  runStarts(runId: string, generation: number): void {
    this.#generations.set(runId, generation);
  }

  generationOf(runId: string): number {
    return this.#generations.get(runId) ?? 0;
  }

  /** Notes what became known of a run in progress. */
  note(runId: string, facts: RunFacts, event?: AgentEvent): void {
    const pending = this.#pending.get(runId) ?? { facts: {}, events: [], lines: [] };
    pending.facts = mergeFacts(pending.facts, facts);
    if (event !== undefined && pending.lines.length < mostWaiting) {
      pending.lines.push(JSON.stringify(event));
      if (this.#isWorthARow(runId)) pending.events.push({ at: event.at, name: event.name, summary: event.summary });
    }
    this.#pending.set(runId, pending);
    this.#flushSoon();
  }

  /** Writes down everything that was noted of a run; rejects when that is not possible now. */
  async drain(runId: string): Promise<void> {
    await this.flush();
    const problem = this.#pending.get(runId)?.problem;
    if (problem !== undefined) throw problem;
  }

  /** The end of the run is written, or given up. */
  forget(runId: string): void {
    this.#rows.delete(runId);
    this.#generations.delete(runId);
    this.#pending.delete(runId);
  }

  /** Writes down what was noted so far; resolves when it was tried. One write at a time, in order. */
  flush(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = null;
    this.#writing = this.#writing.then(() => this.#write());
    return this.#writing;
  }

  /** A run that says more than anybody will read is in its transcript only, from some point on. */
  #isWorthARow(runId: string): boolean {
    const rows = (this.#rows.get(runId) ?? 0) + 1;
    this.#rows.set(runId, rows);
    return rows <= mostWritten;
  }

  #flushSoon(): void {
    this.#timer ??= this.#parts.clock.schedule(flushEveryMs, () => {
      this.#timer = null;
      // It never rejects: what goes wrong is logged and kept.
      void this.flush();
    });
  }

  async #write(): Promise<void> {
    const { store, transcripts, logger } = this.#parts;
    for (const [runId, taken] of [...this.#pending]) {
      this.#pending.delete(runId);
      const { facts, events } = taken;
      try {
        if (taken.lines.length > 0) await transcripts.append(runId, taken.lines);
        taken.lines = [];
        await store.transaction(async ({ runs, runEvents }) => {
          // After a restore the store may not know the run any more; then there is nothing to add to.
          const isKnown = await runs.record(runId, this.generationOf(runId), facts);
          if (isKnown && events.length > 0) await runEvents.append(runId, events);
        });
      } catch (error) {
        if (!toBatonError(error).retryable) {
          // The store will never take it; a run's end must not wait for it for ever.
          logger.error('Events of a run could not be written down; they are lost.', { run_id: runId, error });
          continue;
        }
        logger.error('Events of a run could not be written down; they are kept and tried again.', {
          run_id: runId,
          error,
        });
        const since = this.#pending.get(runId) ?? { facts: {}, events: [], lines: [] };
        this.#pending.set(runId, {
          facts: mergeFacts(facts, since.facts),
          events: [...events, ...since.events],
          lines: [...taken.lines, ...since.lines],
          problem: error,
        });
        if (!this.#parts.stopping.aborted) this.#flushSoon();
      }
    }
  }
}
