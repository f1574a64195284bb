import type { SkipReason } from '../../core/dispatch/eligibility.ts';
import type { Command } from '../../store/tables/commands.ts';
import type { BaseParts } from '../parts.ts';

export interface PauseState {
  readonly since: number;
  /** A drain ends the daemon with its last run. */
  readonly kind: 'pause' | 'drain';
  readonly reason: string | null;
}

export type PauseParts = Pick<BaseParts, 'clock' | 'logger' | 'project' | 'store'>;

/**
 * Whether new work may start. A pause is a command in the store, so it survives a restart; a drain is only for this
 * daemon.
 */
export class Pause {
  readonly #parts: PauseParts;
  #state: PauseState | null = null;
  /** The command that last changed the pause here, until its answer is in the store: the stored pause is older. */
  #unanswered: string | null = null;

  constructor(parts: PauseParts) {
    this.#parts = parts;
  }

  /** Nothing new starts while this is set. */
  get state(): PauseState | null {
    return this.#state;
  }

  /** Whether this command changed the pause and is not answered yet. */
  isBy(commandId: string): boolean {
    return this.#unanswered === commandId;
  }

  set(kind: PauseState['kind'], reason: string | null, commandId: string): void {
    this.#state = { since: this.#parts.clock.now(), kind, reason };
    this.#unanswered = commandId;
  }

  lift(commandId: string): void {
    this.#state = null;
    this.#unanswered = commandId;
  }

  /** The answer of this command is in the store. */
  answered(commandId: string): void {
    if (this.#unanswered === commandId) this.#unanswered = null;
  }

  whyPaused(): SkipReason | null {
    if (this.#state === null) return null;
    const { kind, reason } = this.#state;
    const what = kind === 'pause' ? 'Baton is paused' : 'Baton is draining';
    return { code: 'paused', text: reason === null ? what : `${what}: ${reason}` };
  }

  /**
   * Reads a pause that is still in force: from before a restart, or one that another daemon on the store carried out.
   */
  async read(): Promise<void> {
    const { store, project, logger } = this.#parts;
    const before = this.#state;
    const last = await store.commands.latestDone(project, ['pause', 'resume']);
    // A change that was asked for here meanwhile, or is not answered yet, is newer than the stored one.
    if (this.#state?.kind === 'drain' || this.#state !== before || this.#unanswered !== null) return;
    const paused = last?.kind === 'pause' ? pauseOf(last) : null;
    if (paused !== null && this.#state === null)
      logger.warn('still_paused', { since: paused.since, reason: paused.reason });
    this.#state = paused;
  }
}

function pauseOf({ payload, result, at }: Command): PauseState {
  const { reason } = payload;
  return { since: result?.at ?? at, kind: 'pause', reason: typeof reason === 'string' ? reason : null };
}
