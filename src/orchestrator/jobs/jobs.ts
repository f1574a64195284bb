import { type Timer, timedOut, within } from '../../clock/clock.ts';
import { toBatonError } from '../../core/baton-error.ts';
import type { JobName } from '../../core/cadence/job-catalogue.ts';
import { dueAfterRestart, jitterMs, nextDue, rescheduled } from '../../core/cadence/job-due.ts';
import type { JobTimer } from '../../store/tables/job-timers.ts';
import type { Job, JobHistory, JobsParts, JobView } from './job.ts';

interface Entry {
  readonly job: Job;
  timer: Timer | null;
  /** The next due time on the grid of its interval, on the monotonic clock; null while nothing is planned. */
  due: number | null;
  /** When its timer fires: at `due`, or later by the jitter. */
  firesAt: number;
  intervalMs: number;
  lastStart: number | null;
  isRunning: boolean;
  /** A caller asked for another run during this one, at least this long after its start; null: no caller did. */
  wantedAfterMs: number | null;
  /** A caller asked for the planned run. */
  isAsked: boolean;
  history: JobHistory;
  lateMs: number;
  rememberedAt: number;
}

/** A job that runs more often is written at most this often, unless its outcome changes. */
const rememberEveryMs = 60_000;
/** Jobs with shorter intervals get no jitter. */
const spreadFromMs = 1_000;
/** A stop waits this long for a running job, then leaves it behind. */
const stopMs = 30_000;

/**
 * Runs every job at its own pace (law 6). What must hold: a job is due at the previous due time plus its interval, on
 * the monotonic clock, however long it takes; several missed runs, during sleep or while busy, become one run; a
 * running job is not started a second time, and a request for it meanwhile causes another run right after it; a failure
 * of one job does not affect another. The store has when each job ran and how it ended, so a restart neither repeats
 * nor forgets a run.
 */
export class Jobs {
  readonly #parts: JobsParts;
  readonly #entries: ReadonlyMap<JobName, Entry>;
  readonly #runs = new Set<Promise<void>>();
  #isStarted = false;

  constructor(parts: JobsParts, jobs: readonly Job[]) {
    this.#parts = parts;
    this.#entries = new Map(jobs.map((job) => [job.name, blank(job)]));
  }

  /**
   * Continues where the previous daemon stopped, and plans every job. It does not wait for a store that cannot be read.
   */
  async start(): Promise<void> {
    const { clock, logger, store, project, stopping } = this.#parts;
    const remembered = await store.jobTimers.list(project).catch((error: unknown): readonly JobTimer[] => {
      logger.warn('job_history_unreadable', { error });
      return [];
    });
    if (stopping.aborted) return;
    this.#isStarted = true;
    for (const entry of this.#entries.values()) {
      const timer = remembered.find(({ job, owner }) => job === entry.job.name && owner === this.#ownerOf(entry));
      if (timer !== undefined) entry.history = historyOf(timer);
      entry.intervalMs = entry.job.intervalMs();
      const delayMs =
        timer === undefined
          ? entry.intervalMs
          : dueAfterRestart({ nextDueAt: timer.nextDueAt, intervalMs: entry.intervalMs, now: clock.now() });
      this.#plan(entry, clock.monotonic() + (entry.job.atStart === 'at_once' ? 0 : delayMs));
      // A daemon that restarts again and again must still reach its rare jobs.
      if (timer === undefined && entry.intervalMs >= rememberEveryMs)
        this.#parts.own('jobs', this.#remember(entry, true));
    }
  }

  /** Resolves when no job runs any more. A job that hangs is logged and left behind after `stopMs`. */
  async stop(): Promise<void> {
    const { clock, logger } = this.#parts;
    for (const entry of this.#entries.values()) {
      entry.timer?.cancel();
      entry.due = null;
    }
    if ((await within(clock, stopMs, Promise.all(this.#runs))) !== timedOut) return;
    const left = [...this.#entries.values()].filter(({ isRunning }) => isRunning).map(({ job }) => job.name);
    logger.warn('jobs_abandoned', { jobs: left });
  }

  isRunning(name: JobName): boolean {
    return this.#entry(name).isRunning;
  }

  dueAt(name: JobName): number | null {
    return this.#entry(name).due;
  }

  /** Runs the job now, or right after the run in progress: that run may have missed the latest change. */
  ask(name: JobName, { atLeastMs = 0 }: { readonly atLeastMs?: number } = {}): void {
    const { clock, stopping } = this.#parts;
    if (!this.#isStarted || stopping.aborted) return;
    const entry = this.#entry(name);
    if (entry.isRunning) {
      entry.wantedAfterMs = Math.max(atLeastMs, entry.wantedAfterMs ?? 0);
      return;
    }
    const at = Math.max(clock.monotonic(), (entry.lastStart ?? Number.NEGATIVE_INFINITY) + atLeastMs);
    // Two requests for the same moment cause one run.
    if (entry.due === null || entry.firesAt > at) this.#plan(entry, at, { isAsked: true });
  }

  /**
   * Reads the intervals again. A job with a shorter interval runs sooner, one with a longer interval later, unless a
   * caller asked for it.
   */
  review(): void {
    const now = this.#parts.clock.monotonic();
    for (const entry of this.#entries.values()) {
      if (entry.due === null) continue;
      const intervalMs = entry.job.intervalMs();
      const earliest = entry.job.notBefore?.() ?? Number.NEGATIVE_INFINITY;
      if (intervalMs === entry.intervalMs && entry.due >= earliest) continue;
      if (entry.isAsked) {
        entry.intervalMs = intervalMs;
        this.#plan(entry, entry.due, { isAsked: true });
        continue;
      }
      const { lastStart: lastStartAt, due, intervalMs: previousIntervalMs } = entry;
      entry.intervalMs = intervalMs;
      this.#plan(entry, rescheduled({ lastStartAt, due, previousIntervalMs, intervalMs, now }));
    }
  }

  views(): JobView[] {
    const { clock } = this.#parts;
    return [...this.#entries.values()].map(({ job, due, isRunning, history, lateMs }) => ({
      name: job.name,
      kind: job.kind(),
      intervalMs: job.intervalMs(),
      isRunning,
      ...history,
      nextDueAt: due === null ? null : clock.now() + (due - clock.monotonic()),
      lateMs,
    }));
  }

  #entry(name: JobName): Entry {
    const entry = this.#entries.get(name);
    if (entry === undefined) throw new Error(`There is no job "${name}".`);
    return entry;
  }

  #plan(entry: Entry, at: number, { isAsked = false } = {}): void {
    const { clock, chance } = this.#parts;
    const { job } = entry;
    entry.timer?.cancel();
    entry.isAsked = isAsked;
    entry.due = Math.max(at, job.notBefore?.() ?? at);
    const isSpread = entry.intervalMs >= spreadFromMs && job.kind() === 'remote' && !isAsked && at > clock.monotonic();
    // The jitter is not part of the grid: it does not delay later runs.
    const spreadMs = isSpread ? jitterMs(entry.intervalMs, chance.next()) : 0;
    entry.firesAt = entry.due + spreadMs;
    entry.timer = clock.schedule(entry.firesAt - clock.monotonic(), () => this.#comeDue(entry));
  }

  #comeDue(entry: Entry): void {
    const { clock, stopping } = this.#parts;
    if (stopping.aborted || entry.due === null) return;
    const now = clock.monotonic();
    // `notBefore` has moved since the timer was set, for example because the tracker refused requests.
    if ((entry.job.notBefore?.() ?? now) > now) {
      this.#plan(entry, entry.due);
      return;
    }
    entry.lateMs = Math.max(0, now - entry.due);
    entry.intervalMs = entry.job.intervalMs();
    this.#plan(entry, nextDue({ previousDue: entry.due, intervalMs: entry.intervalMs, now }));
    if (entry.isRunning) return;
    entry.isRunning = true;
    const run = this.#run(entry).finally(() => this.#runs.delete(run));
    this.#runs.add(run);
  }

  /** Never rejects. */
  async #run(entry: Entry): Promise<void> {
    const { clock, logger, stopping, notify } = this.#parts;
    const { job } = entry;
    const [startedAt, lastRunAt, before] = [clock.monotonic(), clock.now(), entry.history];
    const ranWith = (end: Pick<JobHistory, 'error' | 'failures' | 'outcome'>): void => {
      entry.history = { ...end, lastRunAt, durationMs: clock.monotonic() - startedAt };
    };
    entry.lastStart = startedAt;
    entry.wantedAfterMs = null;
    try {
      if (job.scope === 'store' && (await this.#isDoneByOthers(entry, lastRunAt))) return;
      await job.run();
      ranWith({ outcome: 'ok', failures: 0, error: null });
    } catch (thrown) {
      if (stopping.aborted) return;
      const error = toBatonError(thrown);
      const failures = before.failures + 1;
      ranWith({ outcome: 'failed', failures, error: error.message });
      logger.warn('job_failed', { job: job.name, failures, error });
    } finally {
      entry.isRunning = false;
      // The run may have changed its interval or its earliest next start.
      this.review();
      if (entry.wantedAfterMs !== null) this.ask(job.name, { atLeastMs: entry.wantedAfterMs });
      notify();
    }
    await this.#remember(entry, entry.history.outcome !== before.outcome);
  }

  /**
   * Another daemon on the store may have run a job that one daemon runs for all: then it is due when that daemon wrote. Of
   * several that are due at the same moment, one takes the turn.
   */
  async #isDoneByOthers(entry: Entry, startedAt: number): Promise<boolean> {
    const { clock, store, project, isShared } = this.#parts;
    if (!isShared) return false;
    const timers = await store.jobTimers.list(project);
    const timer = timers.find(({ job, owner }) => job === entry.job.name && owner === '');
    // A due time further ahead than one interval comes from a wrong clock.
    const aheadMs = (timer?.nextDueAt ?? 0) - clock.now();
    if (timer === undefined || aheadMs <= 0 || aheadMs > entry.intervalMs) {
      const turn = { seen: timer?.nextDueAt ?? null, nextDueAt: startedAt + entry.intervalMs };
      return !(await store.jobTimers.take(project, entry.job.name, turn));
    }
    const delayMs = dueAfterRestart({ nextDueAt: timer.nextDueAt, intervalMs: entry.intervalMs, now: clock.now() });
    if (entry.due !== null) this.#plan(entry, clock.monotonic() + delayMs);
    return true;
  }

  async #remember(entry: Entry, isChanged: boolean): Promise<void> {
    const { clock, store, project, logger } = this.#parts;
    const now = clock.monotonic();
    if (!isChanged && now - entry.rememberedAt < rememberEveryMs) return;
    entry.rememberedAt = now;
    const { job, history } = entry;
    const dueInMs = entry.due === null ? entry.intervalMs : entry.due - now;
    const timer = {
      ...history,
      project,
      job: job.name,
      owner: this.#ownerOf(entry),
      durationMs: history.durationMs === null ? null : Math.round(history.durationMs),
      nextDueAt: Math.round(clock.now() + dueInMs),
    };
    await store.jobTimers
      .put(timer)
      .catch((problem: unknown) => logger.warn('job_write_failed', { job: job.name, error: problem }));
  }

  #ownerOf({ job }: Entry): string {
    return job.scope === 'store' ? '' : this.#parts.owner;
  }
}

function historyOf({ lastRunAt, outcome, durationMs, failures, error }: JobHistory): JobHistory {
  return { lastRunAt, outcome, durationMs, failures, error };
}

function blank(job: Job): Entry {
  return {
    job,
    timer: null,
    due: null,
    firesAt: Number.POSITIVE_INFINITY,
    intervalMs: 0,
    lastStart: null,
    isRunning: false,
    wantedAfterMs: null,
    isAsked: false,
    history: { lastRunAt: null, outcome: null, durationMs: null, failures: 0, error: null },
    lateMs: 0,
    rememberedAt: Number.NEGATIVE_INFINITY,
  };
}
