import type { AgentEvent } from '../agent/agent.ts';
import type { Clock, Timer } from '../clock/clock.ts';
import type { Logger } from '../core/logger.ts';
import type { RunOutcome } from '../core/run.ts';
import type { RunEventLine } from '../store/run-events.ts';
import type { RunFacts, RunStart } from '../store/runs.ts';
import type { Store } from '../store/store.ts';

/** Events and figures of runs are written together this often: an agent may tell hundreds in a second. */
const flushEveryMs = 250;

interface Pending {
  facts: RunFacts;
  events: Omit<RunEventLine, 'seq'>[];
}

/**
 * What the orchestrator writes down about runs. A start is written before the run begins and an end before its slot is
 * free (law 3), so both are awaited. What happens between is gathered and written soon; it is complete when the end is.
 * A write that fails in between is logged and what it held is kept for the next one.
 */
export class Journal {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #generations = new Map<string, number>();
  readonly #pending = new Map<string, Pending>();
  #timer: Timer | null = null;
  #writing: Promise<void> = Promise.resolve();

  constructor(parts: { readonly store: Store; readonly clock: Clock; readonly logger: Logger }) {
    this.#store = parts.store;
    this.#clock = parts.clock;
    this.#logger = parts.logger;
  }

  async runStarts(start: RunStart): Promise<void> {
    await this.#store.runs.start(start);
    this.#generations.set(start.runId, start.generation);
  }

  /** Notes what became known of a run in progress. */
  note(runId: string, facts: RunFacts, event?: AgentEvent): void {
    const pending = this.#pending.get(runId) ?? { facts: {}, events: [] };
    pending.facts = { ...pending.facts, ...facts };
    if (event !== undefined) pending.events.push({ at: event.at, name: event.name, summary: event.summary });
    this.#pending.set(runId, pending);
    this.#timer ??= this.#clock.schedule(flushEveryMs, () => {
      this.#timer = null;
      void this.flush();
    });
  }

  /** Writes down how a run ended, after everything that was noted of it. */
  async runEnds(runId: string, outcome: RunOutcome): Promise<void> {
    await this.flush();
    const error = outcome.end === 'succeeded' ? null : outcome.error;
    try {
      await this.#store.runs.finish(runId, this.#generations.get(runId) ?? 0, {
        endedAt: this.#clock.now(),
        outcome: outcome.end,
        errorCode: error?.code ?? null,
        errorMessage: error?.message ?? null,
      });
    } catch (problem) {
      this.#logger.error('The end of a run could not be written down.', { run_id: runId, error: problem });
    }
    this.#generations.delete(runId);
    this.#pending.delete(runId);
  }

  /** Writes down what was noted so far; resolves when it is there. One write at a time, in order. */
  flush(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = null;
    this.#writing = this.#writing.then(() => this.#write());
    return this.#writing;
  }

  async #write(): Promise<void> {
    for (const [runId, { facts, events }] of [...this.#pending]) {
      this.#pending.delete(runId);
      try {
        await this.#store.transaction(async ({ runs, runEvents }) => {
          await runs.record(runId, this.#generations.get(runId) ?? 0, facts);
          if (events.length > 0) await runEvents.append(runId, events);
        });
      } catch (error) {
        this.#logger.error('Events of a run could not be written down; they are kept and tried again.', {
          run_id: runId,
          error,
        });
        const since = this.#pending.get(runId) ?? { facts: {}, events: [] };
        this.#pending.set(runId, { facts: { ...facts, ...since.facts }, events: [...events, ...since.events] });
      }
    }
  }
}
