import type { Clock } from '../clock/clock.ts';
import type { LogEvent } from '../core/log-events.ts';
import type { Logger } from '../core/logger.ts';
import type { PressureStep, RequestPressure } from '../core/requests/request-pressure.ts';

/** Near a limit a step comes and goes every minute; the same step is not logged again within this time. */
const quietMs = 10 * 60_000;

type Shortage = Exclude<PressureStep, 'free'>;

const eventOf: Readonly<Record<Shortage, LogEvent>> = {
  warned: 'requests_running_low',
  stretched: 'requests_stretched',
  essential_only: 'requests_essential_only',
  closed: 'requests_closed',
};

/** Logs when requests get short and when they are allowed again: each change once, not with every request. */
export class PressureLog {
  readonly #clock: Clock;
  readonly #loggedAt = new Map<PressureStep, number>();
  #step: PressureStep = 'free';

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  write({ step, until, text }: RequestPressure, logger: Logger): void {
    const before = this.#step;
    if (step === before) return;
    this.#step = step;
    if (before === 'closed') logger.info('requests_resumed', { step, text });
    else if (step === 'free' && before !== 'warned') this.#logOnce(step, () => logger.info('requests_recovered'));
    if (step === 'free') return;
    this.#logOnce(step, () => logger.warn(eventOf[step], { step, until: timeText(until), text }));
  }

  #logOnce(step: PressureStep, log: () => void): void {
    const now = this.#clock.monotonic();
    const loggedAt = this.#loggedAt.get(step);
    // A refusal of the service is always logged: it comes from outside and stops everything.
    if (loggedAt !== undefined && now - loggedAt < quietMs && step !== 'closed') return;
    this.#loggedAt.set(step, now);
    log();
  }
}

function timeText(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString();
}
