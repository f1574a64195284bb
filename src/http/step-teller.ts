import type { Clock } from '../clock/clock.ts';
import type { LogEvent } from '../core/log-events.ts';
import type { Logger } from '../core/logger.ts';
import type { PressureStep, RequestPressure } from '../core/requests/request-pressure.ts';

/** Around a bound a step comes and goes with every minute; what was told is not told again within this time. */
const quietMs = 10 * 60_000;

type Shortage = Exclude<PressureStep, 'free'>;

const eventOf: Readonly<Record<Shortage, LogEvent>> = {
  warned: 'requests_running_low',
  stretched: 'requests_stretched',
  custody_only: 'requests_essential_only',
  closed: 'requests_closed',
};

/** Tells in the log when requests get short and when they are allowed again: a change once, not with every request. */
export class StepTeller {
  readonly #clock: Clock;
  readonly #toldAt = new Map<PressureStep, number>();
  #step: PressureStep = 'free';

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  tell({ step, until, text }: RequestPressure, logger: Logger): void {
    const before = this.#step;
    if (step === before) return;
    this.#step = step;
    if (before === 'closed') logger.info('requests_resumed', { step, text });
    else if (step === 'free' && before !== 'warned') this.#tellOnce(step, () => logger.info('requests_recovered'));
    if (step === 'free') return;
    this.#tellOnce(step, () => logger.warn(eventOf[step], { step, until: timeText(until), text }));
  }

  #tellOnce(step: PressureStep, say: () => void): void {
    const now = this.#clock.monotonic();
    const toldAt = this.#toldAt.get(step);
    // A door that closes is always told: it comes from outside and stops everything.
    if (toldAt !== undefined && now - toldAt < quietMs && step !== 'closed') return;
    this.#toldAt.set(step, now);
    say();
  }
}

function timeText(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString();
}
