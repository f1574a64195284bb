import type { Clock } from '../clock/clock.ts';
import { BatonError } from '../core/baton-error.ts';
import type { Logger } from '../core/logger.ts';
import { isSecureEnough } from '../core/requests/endpoint.ts';
import type { Secret } from '../core/text/secret.ts';
import { AnswerCache, asksItself, type CachedAnswer, isAbout } from './answer-cache.ts';
import type { HttpAnswer, HttpClient, HttpProvider, HttpRequest, SentRequest } from './http.ts';
import type { Departure, Limiter } from './limiter.ts';
import type { LimiterRegistry } from './limiter-registry.ts';
import { PressureLog } from './pressure-log.ts';
import { failureReason, requestFailed } from './request-failure.ts';
import type { RequestBudget } from './spent-requests.ts';
import type { Transport, TransportAnswer } from './transport.ts';

/** A call takes at most this long, whatever the service does. */
const defaultCallTimeoutMs = 30_000;

export interface HttpClientOptions {
  readonly provider: HttpProvider;
  /** The credential by which the service counts requests; null: none. It is not sent from here; `headers` carry it. */
  readonly credential: Secret | null;
  readonly limiters: LimiterRegistry;
  readonly transport: Transport;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The budget for this provider as the workflow file has it now. */
  readonly budget: () => RequestBudget;
  /**
   * Called for every sent request, after its end. The promise resolves when the store has the request, not before:
   * from then on the limiter reads it from there. The call does not wait for it.
   */
  readonly onSent: (sent: SentRequest) => void | Promise<void>;
  /** The name of the store that `onSent` writes to, when clients of several stores share a credential. */
  readonly source?: string;
  /** Allows plain `http` to other machines. */
  readonly allowInsecure: boolean;
  readonly callTimeoutMs?: number;
}

export function createHttpClient(options: HttpClientOptions): HttpClient {
  const { provider, credential, limiters, transport, clock, budget, allowInsecure, source = '' } = options;
  const logger = options.logger.child({ provider: provider.name });
  const limiter = limiters.limiterOf(provider, credential);
  const keptAnswers = new AnswerCache();
  const logSteps = stepLog(limiter, budget, clock, logger);
  const countIn = counter(options, logger);

  async function send(request: HttpRequest): Promise<HttpAnswer> {
    request.signal?.throwIfAborted();
    refuseInsecure(provider.name, request, allowInsecure);
    logSteps();
    const { caller, route } = request;
    const departure = limiter.admit({ caller, route, budget: budget(), source }, logger);
    const count = countIn(request, departure);
    const kept = keptAnswers.find(request);
    let answer: TransportAnswer;
    try {
      answer = await deliver(request, departure, kept);
    } catch (error) {
      const heldBack = departure.heldBack();
      if (heldBack !== null) throw heldBack;
      departure.lost();
      count(null);
      throw error;
    }
    departure.heard(answerOf(answer, null));
    logSteps();
    count(answer);
    return settle(request, answer, kept);
  }

  /** Sends one request; the signal or the time limit ends it. */
  async function deliver(
    request: HttpRequest,
    { confirm }: Departure,
    kept: CachedAnswer | null,
  ): Promise<TransportAnswer> {
    const { method, url, headers, body = null, signal, dropsBody = false } = request;
    const cut = new AbortController();
    const whenCut = new Promise<never>((_, reject) => {
      cut.signal.addEventListener('abort', () => reject(cut.signal.reason), { once: true });
    });
    const limitMs = options.callTimeoutMs ?? defaultCallTimeoutMs;
    const timer = clock.schedule(limitMs, () => cut.abort(requestFailed(provider.name, request, 'timed_out')));
    const onAbort = (): void => cut.abort(signal?.reason);
    signal?.addEventListener('abort', onAbort, { once: true });
    try {
      const allHeaders = { ...headers, ...kept?.validators };
      const work = transport.send({
        method,
        url,
        headers: allHeaders,
        body,
        dropsBody,
        signal: cut.signal,
        beforeLeaving: confirm,
      });
      return await Promise.race([work, whenCut]);
    } catch (error) {
      if (cut.signal.aborted) throw cut.signal.reason;
      throw requestFailed(provider.name, request, failureReason(error), error);
    } finally {
      timer.cancel();
      signal?.removeEventListener('abort', onAbort);
    }
  }

  function settle(request: HttpRequest, answer: TransportAnswer, kept: CachedAnswer | null): HttpAnswer {
    if (answer.status !== 304) {
      keptAnswers.keep(request, answer);
      return answerOf(answer, null);
    }
    if (kept === null) return { ...answerOf(answer, null), isUnchanged: asksItself(request) };
    if (isAbout(kept, answer.headers)) return answerOf(answer, kept);
    keptAnswers.forget(request);
    throw requestFailed(provider.name, request, 'unreadable', new Error('a 304 for another request'));
  }

  return {
    send,
    pressure: () => limiter.pressure(budget()),
    windows: () => limiter.windows(budget()),
  };
}

/** A 304 has what was kept, under the headers that came now. */
function answerOf({ status, headers, body }: TransportAnswer, kept: CachedAnswer | null): HttpAnswer {
  if (kept === null) return { status, headers, body, isUnchanged: false };
  return { status, headers: { ...kept.headers, ...headers }, body: kept.body, isUnchanged: true };
}

function refuseInsecure(provider: string, { url, route }: HttpRequest, allowInsecure: boolean): void {
  if (isSecureEnough(url, allowInsecure)) return;
  const host = URL.parse(url)?.host ?? null;
  throw new BatonError('insecure_endpoint', `${provider}: Baton does not send ${route} to an address without https`, {
    details: { provider, route, host },
  });
}

/** The steps of the service are logged once for all clients of the limiter, those of the budget by this client. */
function stepLog(limiter: Limiter, budget: () => RequestBudget, clock: Clock, logger: Logger): () => void {
  const log = new PressureLog(clock);
  return () => {
    limiter.logChanges(logger);
    log.write(limiter.pressureOfBudget(budget()), logger);
  };
}

type CountEnd = (answer: TransportAnswer | null) => void;

/** Hands each request on to be counted, once. A failed count is logged once, until one succeeds again. */
function counter(
  { provider, clock, onSent }: HttpClientOptions,
  logger: Logger,
): (request: HttpRequest, departure: Departure) => CountEnd {
  let isFailing = false;
  const hand = async (sent: SentRequest, departure: Departure): Promise<void> => {
    try {
      await onSent(sent);
      departure.written();
      isFailing = false;
    } catch (error) {
      if (!isFailing) logger.warn('request_not_counted', { error });
      isFailing = true;
    }
  };
  return ({ route, method, body = '', caller }, departure) => {
    const began = clock.monotonic();
    return (answer) => {
      const sent: SentRequest = {
        job: caller.job,
        cause: caller.cause,
        at: departure.at,
        provider: provider.name,
        route,
        method,
        statusClass: answer === null ? 'error' : `${Math.floor(answer.status / 100)}xx`,
        bytes: Buffer.byteLength(body) + (answer?.bytes ?? 0),
        latencyMs: Math.round(clock.monotonic() - began),
      };
      void hand(sent, departure);
    };
  };
}
