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

/** A request that the limiter allowed. */
export interface Departure {
  /** Wall time. */
  readonly at: number;
  /** Call it just before the bytes are sent. Throws `request_limited` when the service refused requests since then. */
  confirm(): void;
  /** Why it was not sent after all; null while it may have been sent. */
  heldBack(): BatonError | null;
  /** The complete answer arrived, or it did not. */
  heard(answer: HttpAnswer): void;
  lost(): void;
  /** The store has counted it. */
  written(): void;
}

export interface DepartureRequest {
  readonly caller: RequestCaller;
  readonly route: string;
  readonly budget: RequestBudget;
  /** The name of the store that counts it; every writer of that store uses the same name. */
  readonly source: string;
}

/**
 * Decides whether requests of one credential to one service may be sent, for all callers. What must hold:
 *
 * - Checking and counting a request is one step without an await, so that of many at once none exceeds a limit.
 * - Nothing is sent before the time that a refusal or an announced reset names; the first request after it is.
 * - Its state comes from answers, and the next answer corrects it: no mistake of a service, no late answer and no clock change
 *   keeps it closed for more than a day, or open for more than one request.
 */
export class Limiter {
  readonly #provider: HttpProvider;
  readonly #clock: Clock;
  readonly #retryAfter: RetryAfter;
  readonly #announced: AnnouncedWindows;
  readonly #spent: SpentRequests;
  readonly #log: PressureLog;
  /** The places at which the requests in flight were sent. */
  readonly #underWay = new Set<number>();
  /** Counts sent requests and received answers in one order. */
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
    // A stretched budget stays stretched until plenty is left; a closed one opens as soon as one request may be sent.
    return pressureOf(
      this.#spent.facts(budget, (step) => isSofter(step, soft.step)),
      now,
    );
  }

  windows(budget: RequestBudget): readonly RequestWindow[] {
    return [...this.#spent.windows(budget), ...this.#announced.windows()];
  }

  /**
   * Replaces the counts of one store for the provider; the counts of other stores stay. May be called at any time.
   */
  seed(source: string, read: () => Promise<RequestHistory>): Promise<void> {
    return this.#spent.seed(source, read);
  }

  /** Until when the service refuses requests, wall time; null while it does not. */
  closedUntil(): number | null {
    return this.#retryAfter.closedUntil();
  }

  /** The service refused requests until then, before a restart. It counts like a new refusal; a time in the past has no effect. */
  stayClosed(until: number): void {
    const now = this.#clock.now();
    if (until > now) this.#retryAfter.stayClosed(Math.min(until, now + longestWaitMs));
  }

  /** Logs changes of the service's limits; each client logs its own budget. */
  logChanges(logger: Logger): void {
    this.#log.write(this.#pressureOfService(), logger);
  }

  /** Allows a request and counts it, or throws `request_limited`. */
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
    // Requests in flight do not count here, because this request is one of them.
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

  /** Drops limits that make no sense; times are by our clock. */
  #limitsIn(answer: HttpAnswer, time: ServiceTime, logger: Logger): readonly AnnouncedLimit[] {
    const read = (): readonly AnnouncedLimit[] =>
      this.#provider
        .announced(answer.headers, time.now)
        .filter(({ limit, remaining, resetAt }) => limit > 0 && [limit, remaining, resetAt].every(Number.isFinite))
        .map((each) => ({ ...each, resetAt: this.#bounded(time.toOurs(each.resetAt), logger) }));
    return this.#ask(read, [], logger);
  }

  /** The times at which to try again, by our clock; null when the answer is not a refusal. */
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

  /** Lets a provider read an answer; if that throws, returns `otherwise`. */
  #ask<T>(read: () => T, otherwise: T, logger: Logger): T {
    try {
      return read();
    } catch (error) {
      // Only the name of the error: its message may quote the answer.
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
