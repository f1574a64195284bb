import type { AgentEvent } from '../agent/agent.ts';
import { type Clock, sleep, type Timer } from '../clock/clock.ts';
import type { Logger } from '../core/logger.ts';
import type { RunOutcome } from '../core/run.ts';
import type { RunEventLine } from '../store/run-events.ts';
import type { RunFacts, RunFinish, RunRecord, RunStart } from '../store/runs.ts';
import type { Store } from '../store/store.ts';
import type { Transcripts } from '../store/transcript-files.ts';
import type { UsageAmount } from '../store/usage.ts';
import { mergeFacts } from './merge-facts.ts';

/** Events and figures of runs are written together this often: an agent may tell hundreds in a second. */
const flushEveryMs = 250;
/** How long the end of a run that could not be written waits before it is tried again, at first and at most. */
const firstRetryMs = 500;
const longestRetryMs = 30_000;

interface Pending {
  facts: RunFacts;
  events: Omit<RunEventLine, 'seq'>[];
  /** For the transcript; written once, apart from the store. */
  lines: string[];
}

export interface JournalParts {
  readonly store: Store;
  readonly transcripts: Transcripts;
  readonly clock: Clock;
  readonly logger: Logger;
  /** While it is not aborted, the end of a run is tried until it is written. */
  readonly stopping: AbortSignal;
}

/**
 * What the orchestrator writes down about runs. A start is written before the run begins and an end before its slot is
 * free (law 3), so both are awaited; while the store cannot take the end, the slot stays taken. What happens between is
 * gathered and written soon, and what could not be written is kept for the next time. Only a daemon that stops gives up.
 */
export class Journal {
  readonly #parts: JournalParts;
  readonly #generations = new Map<string, number>();
  readonly #pending = new Map<string, Pending>();
  #timer: Timer | null = null;
  #writing: Promise<void> = Promise.resolve();

  constructor(parts: JournalParts) {
    this.#parts = parts;
  }

  async runStarts(start: RunStart): Promise<void> {
    await this.#parts.store.runs.start(start);
    this.#generations.set(start.runId, start.generation);
  }

  /** Notes what became known of a run in progress. */
  note(runId: string, facts: RunFacts, event?: AgentEvent): void {
    const pending = this.#pending.get(runId) ?? { facts: {}, events: [], lines: [] };
    pending.facts = mergeFacts(pending.facts, facts);
    if (event !== undefined) {
      pending.events.push({ at: event.at, name: event.name, summary: event.summary });
      pending.lines.push(JSON.stringify(event));
    }
    this.#pending.set(runId, pending);
    this.#flushSoon();
  }

  /** Writes down how a run ended, after everything that was noted of it. */
  async runEnds(runId: string, outcome: RunOutcome): Promise<void> {
    const error = outcome.end === 'succeeded' ? null : outcome.error;
    const { clock, logger, stopping } = this.#parts;
    const end = {
      endedAt: clock.now(),
      outcome: outcome.end,
      errorCode: error?.code ?? null,
      errorMessage: error?.message ?? null,
    };
    for (let waitMs = firstRetryMs; ; waitMs = Math.min(waitMs * 2, longestRetryMs)) {
      try {
        await this.flush();
        if (!this.#pending.has(runId)) {
          if (!(await this.#finish(runId, end)))
            logger.warn('The store does not know the run that ended.', { run_id: runId });
          break;
        }
      } catch (problem) {
        logger.error('The end of a run could not be written down.', { run_id: runId, error: problem });
      }
      if (stopping.aborted) break;
      await sleep(clock, waitMs, stopping).catch(() => {
        // The daemon stops: one last try, then it gives up.
      });
    }
    this.#generations.delete(runId);
    this.#pending.delete(runId);
  }

  /** The end of the run and what it used, by day: both or neither. False when the store does not know the run. */
  #finish(runId: string, end: RunFinish): Promise<boolean> {
    return this.#parts.store.transaction(async ({ runs, usage }) => {
      const isFinished = await runs.finish(runId, this.#generations.get(runId) ?? 0, end);
      const run = isFinished ? await runs.read(runId) : null;
      if (run !== null) await usage.add(usageOf(run, end.endedAt));
      return isFinished;
    });
  }

  /** Writes down what was noted so far; resolves when it was tried. One write at a time, in order. */
  flush(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = null;
    this.#writing = this.#writing.then(() => this.#write());
    return this.#writing;
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
          const isKnown = await runs.record(runId, this.#generations.get(runId) ?? 0, facts);
          if (isKnown && events.length > 0) await runEvents.append(runId, events);
        });
      } catch (error) {
        logger.error('Events of a run could not be written down; they are kept and tried again.', {
          run_id: runId,
          error,
        });
        const since = this.#pending.get(runId) ?? { facts: {}, events: [], lines: [] };
        this.#pending.set(runId, {
          facts: mergeFacts(facts, since.facts),
          events: [...events, ...since.events],
          lines: [...taken.lines, ...since.lines],
        });
        if (!this.#parts.stopping.aborted) this.#flushSoon();
      }
    }
  }
}

/** What a run used counts for the day on which it ended. */
function usageOf(run: RunRecord, endedAt: number): UsageAmount {
  const { project, issueId, role, inputTokens, cachedInputTokens, outputTokens, reasoningTokens, totalTokens } = run;
  return {
    project,
    issueId,
    role,
    day: new Date(endedAt).toISOString().slice(0, 10),
    ...{ inputTokens, cachedInputTokens, outputTokens, reasoningTokens, totalTokens },
    costMicroUsd: run.costMicroUsd,
    runs: 1,
  };
}
