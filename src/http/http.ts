import type { RequestCaller } from '../core/requests/request-caller.ts';
import type { RequestPressure } from '../core/requests/request-pressure.ts';

/**
 * The only client for remote services. What must hold:
 *
 * - Every request that is sent is counted, even if it fails, by provider, route, method, status class, job and cause, with
 *   bytes and latency. A request that is refused before it is sent is not counted.
 * - A call sends at most one request: it never repeats a request and follows no redirect (a credential must not go to
 *   another host), so a failure costs no more than a success.
 * - One limiter per credential: a `Retry-After`, an announced reset and a budget bind all its users. While the service
 *   refuses requests a call rejects at once with `request_limited`, and `details.until` says until when.
 * - Every call ends: connecting, waiting for the head and reading the body have their limits, an answer its largest size.
 * - A credential appears in no error, log line or count. Plain `http` is for loopback, or where the caller insists.
 */
export interface HttpClient {
  /**
   * Resolves with the answer, whatever its status. Rejects with `request_limited` (nothing was sent), `request_failed`
   * (no complete answer: refused, cut, timed out, too large; `details.reason` says which), or the signal's reason.
   */
  send(request: HttpRequest): Promise<HttpAnswer>;
  /** How short requests are now. */
  pressure(): RequestPressure;
  /** The windows of the budgets and of the service's headers, for people. */
  windows(): readonly RequestWindow[];
}

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly url: string;
  /** The name it is counted under: a template such as `/issues/:id`, or the name of a GraphQL operation; never an id. */
  readonly route: string;
  /** Secrets belong here and nowhere else. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Only the status matters: the body of the answer is not read and is returned as an empty text. */
  readonly dropsBody?: boolean;
  readonly caller: RequestCaller;
  readonly signal?: AbortSignal;
}

export interface HttpAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Decoded as UTF-8. For a 304, the cached body with the same validator. */
  readonly body: string;
  /** A GET that the service answered with 304: the cached answer is still valid. */
  readonly isUnchanged: boolean;
}

/** The rules of one service. */
export interface HttpProvider {
  /** `linear`, `github`, … */
  readonly name: string;
  /** The limits that the headers of an answer announce. */
  readonly announced: (headers: HttpAnswer['headers'], now: number) => readonly AnnouncedLimit[];
  /** Whether an answer refuses requests because there were too many (429 always does), and until when, if it says so. */
  readonly refusal: (answer: HttpAnswer, now: number) => { readonly until: number | null } | null;
}

export interface AnnouncedLimit {
  /** What is limited: `requests`, `complexity`, … */
  readonly name: string;
  readonly limit: number;
  readonly remaining: number;
  /** Wall time. */
  readonly resetAt: number;
}

/** One bound on requests and how much of it is used. */
export interface RequestWindow {
  readonly name: string;
  /** Where the bound comes from: the workflow file or the service. */
  readonly source: 'budget' | 'announced';
  readonly limit: number;
  readonly used: number;
  /** Wall time; null for a window that slides. */
  readonly resetAt: number | null;
}

/** A sent request, as it is counted. */
export interface SentRequest extends RequestCaller {
  readonly at: number;
  readonly provider: string;
  readonly route: string;
  readonly method: string;
  /** `2xx`, `4xx`, …, or `error` when there was no whole answer. */
  readonly statusClass: string;
  /** Of the sent and the received body, as on the wire. */
  readonly bytes: number;
  readonly latencyMs: number;
}
