import type { AgentEvent } from '../agent/agent.ts';
import type { Clock, Timer } from '../clock/clock.ts';
import { toBatonError } from '../core/baton-error.ts';
import type { Logger } from '../core/logger.ts';
import type { RunEventLine } from '../store/run-events.ts';
import type { RunFacts } from '../store/runs.ts';
import type { Store, StoreTables } from '../store/store.ts';
import type { Transcripts } from '../store/transcript-files.ts';
import { mergeFacts } from './merge-facts.ts';

/** Events and figures of runs are written together this often: an agent may tell hundreds in a second. */
const flushEveryMs = 250;

/** So many events of a run wait to be written, and so many are written of a run; the transcript has its own bound. */
const mostWaiting = 5_000;
const mostWritten = 50_000;

/** So many runs share a transaction: enough to save the disk, and few enough that nobody waits long for it. */
const runsAtOnce = 16;

interface Notes {
  facts: RunFacts;
  events: Omit<RunEventLine, 'seq'>[];
  /** For the transcript; written once, apart from the store. */
  lines: string[];
}

type WriteNotes = (tables: StoreTables) => Promise<void>;

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
  readonly #pending = new Map<string, Notes>();
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

  /**
   * Hands out what was noted of a run, to be written in the same transaction as its end. When that fails, the notes are
   * kept for the next try, unless the store will never take them: an end must not wait for them for ever.
   */
  async settle<T>(runId: string, write: (notes: WriteNotes) => Promise<T>): Promise<T> {
    await this.#writing;
    const taken = this.#take(runId);
    try {
      await this.#appendLines(runId, taken);
      return await write((tables) => this.#writeNotes(tables, runId, taken));
    } catch (error) {
      this.#keep(runId, taken, error);
      throw error;
    }
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
    const taken = [...this.#pending.keys()].map((runId) => ({ runId, notes: this.#take(runId) }));
    for (let from = 0; from < taken.length; from += runsAtOnce)
      await this.#writeTogether(taken.slice(from, from + runsAtOnce));
  }

  /** Several runs in one transaction; when that fails, each by itself, so that one cannot keep the others back. */
  async #writeTogether(batch: readonly { readonly runId: string; readonly notes: Notes }[]): Promise<void> {
    try {
      for (const { runId, notes } of batch) await this.#appendLines(runId, notes);
      await this.#parts.store.transaction(async (tables) => {
        for (const { runId, notes } of batch) await this.#writeNotes(tables, runId, notes);
      });
    } catch (error) {
      const [only, ...others] = batch;
      if (only !== undefined && others.length === 0) this.#keep(only.runId, only.notes, error);
      else for (const each of batch) await this.#writeTogether([each]);
    }
  }

  #take(runId: string): Notes {
    const notes = this.#pending.get(runId) ?? { facts: {}, events: [], lines: [] };
    this.#pending.delete(runId);
    return notes;
  }

  async #appendLines(runId: string, notes: Notes): Promise<void> {
    if (notes.lines.length > 0) await this.#parts.transcripts.append(runId, notes.lines);
    notes.lines = [];
  }

  async #writeNotes({ runs, runEvents }: StoreTables, runId: string, { facts, events }: Notes): Promise<void> {
    // After a restore the store may not know the run any more; then there is nothing to add to.
    const isKnown = await runs.record(runId, this.generationOf(runId), facts);
    if (isKnown && events.length > 0) await runEvents.append(runId, events);
  }

  #keep(runId: string, notes: Notes, error: unknown): void {
    const { logger, stopping } = this.#parts;
    if (!toBatonError(error).retryable) {
      logger.error('Events of a run could not be written down; they are lost.', { run_id: runId, error });
      return;
    }
    logger.error('Events of a run could not be written down; they are kept and tried again.', { run_id: runId, error });
    const since = this.#take(runId);
    this.#pending.set(runId, {
      facts: mergeFacts(notes.facts, since.facts),
      events: [...notes.events, ...since.events],
      lines: [...notes.lines, ...since.lines],
    });
    if (!stopping.aborted) this.#flushSoon();
  }
}
