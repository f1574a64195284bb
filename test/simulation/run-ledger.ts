import type { MemoryStore } from './memory-store.ts';

/** A run as the store has it. */
export interface LedgerRun {
  readonly runId: string;
  readonly issueId: string;
  readonly role: string;
  /** Of a phase agent and of the judge of its artifact; null for all others. */
  readonly phase: string | null;
  readonly generation: number;
  readonly attempt: number | null;
  readonly retryKind: string | null;
  /** The step of context recovery that it takes. */
  readonly recovery: string | null;
  /** The account that it uses. */
  readonly account: string | null;
  /** The incarnation that wrote it: run ids begin with its name. */
  readonly incarnation: string;
  readonly startedSeenAt: number;
  endedAt: number | null;
  outcome: string | null;
  errorCode: string | null;
  /** Its usage when it ended. */
  tokens: number;
}

interface Row {
  readonly row: number;
  readonly run_id: string;
  readonly issue_id: string;
  readonly role: string;
  readonly phase: string | null;
  readonly generation: number;
  readonly attempt: number | null;
  readonly retry_kind: string | null;
  readonly recovery: string | null;
  readonly account: string | null;
}

interface EndRow {
  readonly run_id: string;
  readonly ended_at: number;
  readonly outcome: string;
  readonly error_code: string | null;
  readonly total_tokens: number;
}

/** The changes of runs in the store since the last read. A read without changes is almost free. */
export class RunLedger {
  readonly unfinished = new Map<string, LedgerRun>();
  /** By run. */
  readonly roles = new Map<string, string>();
  /** How many rows were ever seen. */
  seen = 0;
  readonly #memory: MemoryStore;
  readonly #now: () => number;
  #changes = -1;
  #lastRow = 0;

  constructor(memory: MemoryStore, now: () => number) {
    this.#memory = memory;
    this.#now = now;
  }

  update(): { readonly started: readonly LedgerRun[]; readonly ended: readonly LedgerRun[] } {
    const { changes } = this.#memory;
    if (changes === this.#changes) return { started: [], ended: [] };
    this.#changes = changes;
    const started = this.#memory
      .look<Row>(
        'select rowid as row, run_id, issue_id, role, phase, generation, attempt, retry_kind, recovery, account from runs where rowid > ? order by rowid',
        this.#lastRow,
      )
      .map((row) => this.#add(row));
    return { started, ended: this.#ended() };
  }

  #add(row: Row): LedgerRun {
    this.#lastRow = row.row;
    this.seen += 1;
    const run: LedgerRun = {
      runId: row.run_id,
      issueId: row.issue_id,
      role: row.role,
      phase: row.phase,
      generation: row.generation,
      attempt: row.attempt,
      retryKind: row.retry_kind,
      recovery: row.recovery,
      account: row.account,
      incarnation: row.run_id.split('.')[0] ?? '',
      startedSeenAt: this.#now(),
      endedAt: null,
      outcome: null,
      errorCode: null,
      tokens: 0,
    };
    this.unfinished.set(run.runId, run);
    this.roles.set(run.runId, run.role);
    return run;
  }

  #ended(): LedgerRun[] {
    if (this.unfinished.size === 0) return [];
    const open = new Set(
      this.#memory
        .look<{ run_id: string }>('select run_id from runs where ended_at is null')
        .map(({ run_id }) => run_id),
    );
    return [...this.unfinished.values()].flatMap((run) => {
      if (open.has(run.runId)) return [];
      this.unfinished.delete(run.runId);
      const [end] = this.#memory.look<EndRow>(
        'select run_id, ended_at, outcome, error_code, total_tokens from runs where run_id = ?',
        run.runId,
      );
      if (end === undefined) return [];
      run.endedAt = end.ended_at;
      run.outcome = end.outcome;
      run.errorCode = end.error_code;
      run.tokens = end.total_tokens;
      return [run];
    });
  }
}
