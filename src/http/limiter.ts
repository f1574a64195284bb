import type { Clock } from '../clock/clock.ts';
import { BatonError } from '../core/baton-error.ts';
import type { Logger } from '../core/logger.ts';
import { harderOf, mayLeave, pressureOf } from '../core/requests/request-budget.ts';
import { importanceOf, type RequestCaller } from '../core/requests/request-caller.ts';
import { noPressure, type PressureStep, type RequestPressure } from '../core/requests/request-pressure.ts';
import { AnnouncedWindows } from './announced-windows.ts';
import type { AnnouncedLimit, HttpAnswer, HttpProvider, RequestWindow } from './http.ts';
import { PressureLog } from './pressure-log.ts';
import { kindOf, type Split } from './request-tally.ts';
import { RetryAfter } from './retry-after.ts';
import { longestWaitMs, readRetryAfter, readServiceTime, type ServiceTime } from './service-time.ts';
import { type RequestBudget, type RequestHistory, SpentRequests } from './spent-requests.ts';

/** A request that the limiter let go. */
export interface Departure {
  /** Wall time. */
  readonly at: number;
  /** To be called just before its bytes leave. Throws `request_limited` when the service refused since: it does not leave. */
  confirm(): void;
  /** Why it did not leave after all; null as long as it may have. */
  heldBack(): BatonError | null;
  /** It was answered, or else it was not, as a whole. */
  heard(answer: HttpAnswer): void;
  lost(): void;
  /** The store has counted it. */
  written(): void;
}

export interface DepartureRequest {
  readonly caller: RequestCaller;
  readonly route: string;
  readonly budget: RequestBudget;
  /** The store that will count it: whatever writes there says the same. */
  readonly source: string;
}

/**
 * Everything that one credential may and may not do at one service, for all who use it. What must hold:
 *
 * - Whether a request may leave and that it left are one step, with no await in between: of many at once none slips past.
 * - Nothing leaves before the time that a refusal or an announced reset names; the first request after it may.
 * - What it knows comes from answers and is corrected by the next one: no mistake of a service, no answer that comes late
 *   and no clock that is set keeps it closed for more than a day, or open for more than a request.
 */
export class Limiter {
  readonly #provider: HttpProvider;
  readonly #clock: Clock;
  readonly #retryAfter: RetryAfter;
  readonly #announced: AnnouncedWindows;
  readonly #spent: SpentRequests;
  readonly #log: PressureLog;
  /** The places at which the requests left that are under way. */
  readonly #underWay = new Set<number>();
  /** The one order of what leaves and what is heard. */
  #place = 0;
  #isFarResetLogged = false;
  #isBrokenProviderLogged = false;

  constructor(provider: HttpProvider, clock: Clock) {
    this.#provider = provider;
    this.#clock = clock;
    this.#retryAfter = new RetryAfter(clock);
    this.#announced = new AnnouncedWindows(clock);
    this.#spent = new SpentRequests(clock);
    this.#log = new PressureLog(clock);
  }

  pressure(budget: RequestBudget): RequestPressure {
    return harderOf(this.#pressureOfService(), this.pressureOfBudget(budget));
  }

  pressureOfBudget(budget: RequestBudget): RequestPressure {
    const now = this.#clock.now();
    const soft = pressureOf(
      this.#spent.facts(budget, (step) => step === 'free'),
      now,
    );
    if (soft.step === 'free' || soft.step === 'warned' || soft.step === 'stretched') return soft;
    // What is stretched lasts until there is plenty again; what is closed only until something goes.
    return pressureOf(
      this.#spent.facts(budget, (step) => isSofter(step, soft.step)),
      now,
    );
  }

  windows(budget: RequestBudget): readonly RequestWindow[] {
    return [...this.#spent.windows(budget), ...this.#announced.windows()];
  }

  /**
   * Takes in what a store has counted for the provider, from wherever; what other stores have counted stays. May be called
   * at any time.
   */
  seed(source: string, read: () => Promise<RequestHistory>): Promise<void> {
    return this.#spent.seed(source, read);
  }

  /** Until when the service refuses requests, wall time; null while it does not. */
  closedUntil(): number | null {
    return this.#retryAfter.closedUntil();
  }

  /** The service refused until then, before a restart. That binds as a refusal of now does; a time that is over does not. */
  stayClosed(until: number): void {
    const now = this.#clock.now();
    if (until > now) this.#retryAfter.stayClosed(Math.min(until, now + longestWaitMs));
  }

  /** Logs what changed about the service; each client logs its own budget. */
  logChanges(logger: Logger): void {
    this.#log.write(this.#pressureOfService(), logger);
  }

  /** Lets a request go and counts it, or throws `request_limited`. */
  admit(request: DepartureRequest, logger: Logger): Departure {
    this.#refuseWhenShort(request);
    const at = this.#clock.now();
    const kind = kindOf(request.caller.cause);
    this.#place += 1;
    const leftAt = this.#place;
    this.#underWay.add(leftAt);
    this.#spent.count(at, kind, 1);
    let heldBack: BatonError | null = null;
    return {
      at,
      confirm: () => {
        heldBack ??= this.#whyHeldBack(request, leftAt, at, kind);
        if (heldBack !== null) throw heldBack;
      },
      heldBack: () => heldBack,
      heard: (answer) => {
        this.#underWay.delete(leftAt);
        this.#hear(answer, leftAt, logger);
      },
      lost: () => void this.#underWay.delete(leftAt),
      written: () => this.#spent.written(request.source, at, kind),
    };
  }

  #refuseWhenShort(request: DepartureRequest): void {
    const importance = importanceOf(request.caller);
    const now = this.#clock.now();
    const spent = this.#spent.facts(request.budget, (step) => mayLeave(importance, { step }));
    const pressure = harderOf(this.#pressureOfService(), pressureOf(spent, now));
    if (!mayLeave(importance, pressure)) throw this.#limited(request, pressure);
  }

  #whyHeldBack(request: DepartureRequest, leftAt: number, at: number, kind: keyof Split): BatonError | null {
    // Not the windows with what is under way: this request is part of that.
    if (this.#retryAfter.closedUntil() === null && !this.#announced.isUsedUp()) return null;
    this.#underWay.delete(leftAt);
    this.#spent.count(at, kind, -1);
    return this.#limited(request, this.#pressureOfService());
  }

  #limited({ route, caller }: DepartureRequest, { step, until, text }: RequestPressure): BatonError {
    const { name } = this.#provider;
    return new BatonError('request_limited', `${name}: the request ${route} was not sent. ${text}`, {
      details: { provider: name, route, job: caller.job, cause: caller.cause, step, until },
    });
  }

  #pressureOfService(): RequestPressure {
    return harderOf(this.#pressureOfRefusal(), this.#announced.pressure(this.#underWay));
  }

  #pressureOfRefusal(): RequestPressure {
    const until = this.#retryAfter.closedUntil();
    if (until === null) return noPressure;
    return { step: 'closed', spacingMs: 0, until, text: `${this.#provider.name} refuses requests for now` };
  }

  #hear(answer: HttpAnswer, leftAt: number, logger: Logger): void {
    this.#place += 1;
    const heardAt = this.#place;
    const now = this.#clock.now();
    const time = readServiceTime(answer.headers.date, now);
    const limits = this.#limitsIn(answer, time, logger);
    for (const limit of limits) this.#announced.hear(limit, leftAt, heardAt);
    const usedUp = limits.filter(({ remaining }) => remaining <= 0).map(({ resetAt }) => resetAt);
    const refusal = this.#refusalIn(answer, time, logger);
    if (refusal === null) {
      if (answer.status < 500) this.#retryAfter.succeeded(leftAt);
      return;
    }
    const known = [...refusal, ...usedUp].filter((until) => until > now);
    this.#retryAfter.refused(known.length === 0 ? null : this.#bounded(Math.max(...known), logger), leftAt, heardAt);
  }

  /** Only what makes sense, in our time. */
  #limitsIn(answer: HttpAnswer, time: ServiceTime, logger: Logger): readonly AnnouncedLimit[] {
    const read = (): readonly AnnouncedLimit[] =>
      this.#provider
        .announced(answer.headers, time.now)
        .filter(({ limit, remaining, resetAt }) => limit > 0 && [limit, remaining, resetAt].every(Number.isFinite))
        .map((each) => ({ ...each, resetAt: this.#bounded(time.toOurs(each.resetAt), logger) }));
    return this.#ask(read, [], logger);
  }

  /** The times at which to come again, in our time; null when the answer is no refusal. */
  #refusalIn(answer: HttpAnswer, time: ServiceTime, logger: Logger): readonly number[] | null {
    const now = this.#clock.now();
    const retryAt = readRetryAfter(answer.headers['retry-after'], time, now);
    const refusal = this.#ask(() => this.#provider.refusal(answer, time.now), null, logger);
    const isRefused = refusal !== null || answer.status === 429 || (answer.status === 503 && retryAt !== null);
    if (!isRefused) return null;
    const until = refusal?.until ?? null;
    return [retryAt, until === null ? null : time.toOurs(until)].filter((at) => at !== null);
  }

  #bounded(until: number, logger: Logger): number {
    const longest = this.#clock.now() + longestWaitMs;
    if (until <= longest) return until;
    if (!this.#isFarResetLogged) {
      this.#isFarResetLogged = true;
      logger.warn('retry_after_capped', { until });
    }
    return longest;
  }

  /** What a provider makes of an answer; one that fails at it has nothing to say. */
  #ask<T>(read: () => T, otherwise: T, logger: Logger): T {
    try {
      return read();
    } catch (error) {
      // Its kind alone: the message may quote the answer.
      const kind = error instanceof Error ? error.name : typeof error;
      if (!this.#isBrokenProviderLogged) logger.error('rate_limit_unreadable', { error: kind });
      this.#isBrokenProviderLogged = true;
      return otherwise;
    }
  }
}

function isSofter(step: PressureStep, than: PressureStep): boolean {
  return step !== than && harderOf({ ...noPressure, step }, { ...noPressure, step: than }).step === than;
}
