import type { AgentEvent } from '../../agent/agent.ts';
import type { Timer } from '../../clock/clock.ts';
import { toBatonError } from '../../core/baton-error.ts';
import { Backlog, type BacklogBatch, type SharedBytes } from '../../store/backlog.ts';
import type { StoreTables } from '../../store/store.ts';
import type { RunEventLine } from '../../store/tables/run-events.ts';
import type { RunFacts } from '../../store/tables/runs.ts';
import type { Transcripts } from '../../store/transcripts/transcript-files.ts';
import { transcriptLine } from '../../store/transcripts/transcript-line.ts';
import type { BaseParts } from '../parts.ts';
import { mergeFacts } from './merge-facts.ts';

/** Events and figures of runs are written together this often: an agent may report hundreds per second. */
const flushEveryMs = 250;

/** When this much of a run waits, it is written at once. */
const urgentEvents = 1_000;
const urgentBytes = 1024 * 1024;

/** Memory limits for unwritten items, however slow the disk is: per run, and for all runs. */
const lineLimits = { mostItems: 20_000, mostBytes: 8 * 1024 * 1024 };
const rowLimits = { mostItems: 5_000, mostBytes: 4 * 1024 * 1024 };
const mostBytesOfAll = 64 * 1024 * 1024;

/**
 * At most this many events of a run get a row: no reader needs more. The transcript continues, with a limit of its own.
 */
const mostRows = 50_000;
const longestSummary = 1_000;
/** Approximate memory of an item in addition to its text. */
const itemBytes = 100;

/**
 * At most this many runs share a transaction: enough to spare the disk, and few enough that no other write waits long.
 */
const runsAtOnce = 16;

interface RunNotes {
  readonly runId: string;
  readonly generation: number;
  facts: RunFacts;
  /** The number of the last event, dropped ones included. */
  seq: number;
  readonly rows: Backlog<RunEventLine>;
  readonly lines: Backlog<string>;
}

interface Taken {
  readonly notes: RunNotes;
  readonly facts: RunFacts;
  readonly rows: BacklogBatch<RunEventLine>;
}

/** Notes on their way to the store; exactly one of `written` and `failed` is called at the end. */
export interface TakenNotes {
  write(tables: StoreTables): Promise<void>;
  written(): void;
  failed(error: unknown): void;
}

const nothingTaken: TakenNotes = { write: async () => {}, written: () => {}, failed: () => {} };

export interface JournalParts extends Pick<BaseParts, 'clock' | 'logger' | 'stopping' | 'store'> {
  readonly transcripts: Transcripts;
  /** Called with each event and its number, before it is written. Must be quick and must not throw. */
  readonly onRunEvent?: (runId: string, seq: number, event: AgentEvent) => void;
}

/**
 * Collects the events and facts of a run between its start and its end, which are written with its claim, and writes
 * them soon. Notes that could not be written are kept for the next try; a run's end waits for them. What must hold:
 *
 * - An event has a number, counted per run from 1: its row in the store and its line in the transcript have the same
 *   one.
 * - Memory is bounded, however many events come and however long store or disk fail: events beyond the limit are
 *   dropped, and the next item written says how many.
 * - A transcript that cannot be written blocks no other write, least of all the end of its run.
 */
export class Journal {
  readonly #parts: JournalParts;
  readonly #runs = new Map<string, RunNotes>();
  readonly #shared: SharedBytes = { most: mostBytesOfAll, used: 0 };
  #timer: Timer | null = null;
  #isUrgent = false;
  #writing: Promise<void> = Promise.resolve();
  /** The last time something could not be written. */
  #isFailing = false;
  #transcriptsFail = false;

  constructor(parts: JournalParts) {
    this.#parts = parts;
  }

  /** The start of this run is in the store, with this generation. */
  runStarts(runId: string, generation: number): void {
    const rows = new Backlog<RunEventLine>({ ...rowLimits, shared: this.#shared });
    const lines = new Backlog<string>({ ...lineLimits, shared: this.#shared });
    this.#runs.set(runId, { runId, generation, facts: {}, seq: 0, rows, lines });
  }

  /** The number of the newest event of a run in progress; null for any other run. */
  lastSeqOf(runId: string): number | null {
    return this.#runs.get(runId)?.seq ?? null;
  }

  generationOf(runId: string): number {
    return this.#runs.get(runId)?.generation ?? 0;
  }

  /** Notes new facts of a run in progress. Ignores a run that did not start here, or whose end is written. */
  note(runId: string, facts: RunFacts, event?: AgentEvent): void {
    const notes = this.#runs.get(runId);
    if (notes === undefined) return;
    notes.facts = mergeFacts(notes.facts, facts);
    if (event !== undefined) this.#noteEvent(notes, event);
    const { items, bytes } = notes.lines.size;
    this.#flushSoon();
    // While writes fail, an event does not trigger another try.
    if (!this.#isFailing && (items >= urgentEvents || bytes >= urgentBytes)) this.#flushNow();
  }

  /**
   * Takes the notes of a run, to be written in the same transaction as its end. If that fails, they are kept for the
   * next try, unless the store will never accept them: the end must not wait for them forever.
   */
  async takeNotes(runId: string): Promise<TakenNotes> {
    const notes = this.#runs.get(runId);
    if (notes === undefined) return nothingTaken;
    await this.#writing;
    // No await until the notes are taken: notes that another write takes now could arrive after the end and be refused.
    this.#noteDropped(notes, this.#parts.clock.now());
    const taken = take(notes);
    await this.#writeLines(notes);
    return {
      write: (tables) => this.#writeRows(tables, taken),
      written: () => notes.rows.done(taken.rows),
      failed: (error) => this.#keep(taken, error),
    };
  }

  /** The end of the run is written or given up. */
  forget(runId: string): void {
    const notes = this.#runs.get(runId);
    if (notes === undefined) return;
    this.#runs.delete(runId);
    notes.rows.done(notes.rows.take());
    const lost = notes.lines.take();
    notes.lines.done(lost);
    if (lost.items.length === 0) return;
    const facts = { run_id: runId, lines: lost.items.length };
    this.#parts.logger.error('transcript_lost', facts);
  }

  /** Writes all notes so far; resolves after the try. One write at a time, in order. */
  flush(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = null;
    this.#writing = this.#writing.then(() => this.#write());
    return this.#writing;
  }

  #noteEvent(notes: RunNotes, event: AgentEvent): void {
    notes.seq += 1;
    const { runId, seq, rows, lines } = notes;
    const { at, name, pid, usage, payload } = event;
    this.#parts.onRunEvent?.(runId, seq, event);
    if (lines.hasSpace) {
      if (lines.dropped > 0) addLine(lines, droppedLine(notes, lines.takeDropped(), seq - 1, at));
      const { summary } = event;
      addLine(lines, transcriptLine({ seq, at, run: runId, name, pid, summary, usage, payload }));
    } else lines.drop();
    if (seq > mostRows) return;
    if (rows.hasSpace) {
      if (rows.dropped > 0) addRow(rows, droppedRow(rows.takeDropped(), seq - 1, at));
      addRow(rows, { seq, at, name, summary: event.summary.slice(0, longestSummary) });
    } else rows.drop();
  }

  /** Reports events that were dropped last, because no later item can say so. */
  #noteDropped(notes: RunNotes, at: number): void {
    const { seq, rows, lines } = notes;
    if (lines.dropped > 0) addLine(lines, droppedLine(notes, lines.takeDropped(), seq, at));
    if (rows.dropped > 0) addRow(rows, droppedRow(rows.takeDropped(), Math.min(seq, mostRows), at));
  }

  #flushSoon(): void {
    this.#timer ??= this.#parts.clock.schedule(flushEveryMs, () => {
      this.#timer = null;
      // `flush` never rejects: it logs errors and keeps the notes.
      void this.flush();
    });
  }

  /** Starts one flush, however many callers ask before it ends. */
  #flushNow(): void {
    if (this.#isUrgent) return;
    this.#isUrgent = true;
    void this.flush();
  }

  async #write(): Promise<void> {
    this.#isFailing = false;
    const runs = [...this.#runs.values()];
    for (const notes of runs) await this.#writeLines(notes);
    const taken = runs.filter(hasNews).map(take);
    for (let from = 0; from < taken.length; from += runsAtOnce)
      await this.#writeTogether(taken.slice(from, from + runsAtOnce));
    this.#isUrgent = false;
  }

  /**
   * Writes several runs in one transaction. If that fails, it writes each alone, so that one run cannot block the
   * others.
   */
  async #writeTogether(batch: readonly Taken[]): Promise<void> {
    try {
      await this.#parts.store.transaction(async (tables) => {
        for (const taken of batch) await this.#writeRows(tables, taken);
      });
      for (const { notes, rows } of batch) notes.rows.done(rows);
    } catch (error) {
      const [only, ...others] = batch;
      if (only !== undefined && others.length === 0) this.#keep(only, error);
      else for (const each of batch) await this.#writeTogether([each]);
    }
  }

  async #writeRows({ runs, runEvents, messages }: StoreTables, { notes, facts, rows }: Taken): Promise<void> {
    // After a restore the store may not know the run any more; then its events have no place.
    const isKnown = await runs.record(notes.runId, notes.generation, facts);
    if (isKnown && rows.items.length > 0) await runEvents.append(notes.runId, rows.items);
    if (isKnown && facts.given !== undefined) await messages.give(facts.given, notes.runId);
  }

  /** Written apart from the store, with one try. Never rejects. */
  async #writeLines({ runId, lines }: RunNotes): Promise<void> {
    const { transcripts, logger, stopping } = this.#parts;
    const taken = lines.take();
    if (taken.items.length === 0) return;
    try {
      await transcripts.append(runId, taken.items);
      lines.done(taken);
      if (this.#transcriptsFail) logger.info('transcript_recovered', { run_id: runId });
      this.#transcriptsFail = false;
    } catch (error) {
      if (!this.#transcriptsFail) logger.error('transcript_write_failed', { run_id: runId, error });
      this.#transcriptsFail = true;
      this.#isFailing = true;
      // If the run was forgotten meanwhile, no later write would try again.
      if (this.#runs.has(runId)) lines.putBack(taken);
      else lines.done(taken);
      if (!stopping.aborted) this.#flushSoon();
    }
  }

  #keep(taken: Taken, error: unknown): void {
    const { logger, stopping } = this.#parts;
    const { notes, facts, rows } = taken;
    const { runId } = notes;
    if (!toBatonError(error).retryable || !this.#runs.has(runId)) {
      notes.rows.done(rows);
      logger.error('run_events_lost', { run_id: runId, error });
      return;
    }
    logger.error('run_events_write_failed', { run_id: runId, error });
    notes.facts = mergeFacts(facts, notes.facts);
    notes.rows.putBack(rows);
    this.#isFailing = true;
    if (!stopping.aborted) this.#flushSoon();
  }
}

/** Whether there is anything for the store: after `mostRows` events a run only has transcript lines. */
function hasNews({ facts, rows }: RunNotes): boolean {
  return Object.keys(facts).length > 0 || rows.size.items > 0;
}

function take(notes: RunNotes): Taken {
  const { facts } = notes;
  notes.facts = {};
  return { notes, facts, rows: notes.rows.take() };
}

function addLine(lines: Backlog<string>, line: string): void {
  // Non-Latin text takes two bytes per character in memory and three on disk.
  lines.add(line, line.length * 2 + itemBytes);
}

function addRow(rows: Backlog<RunEventLine>, row: RunEventLine): void {
  rows.add(row, row.summary.length * 2 + itemBytes);
}

/** Has the number of the last missing event. */
function droppedRow(dropped: number, seq: number, at: number): RunEventLine {
  const summary = `${dropped} events are missing here: they came faster than Baton could write them.`;
  return { seq, at, name: 'events_dropped', summary };
}

function droppedLine({ runId }: RunNotes, dropped: number, seq: number, at: number): string {
  return transcriptLine({ ...droppedRow(dropped, seq, at), run: runId, payload: { dropped } });
}
