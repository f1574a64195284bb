import type { RequestCaller } from '../core/requests/request-caller.ts';
import type { RequestPressure } from '../core/requests/request-pressure.ts';

/**
 * The one way out to remote services. What must hold:
 *
 * - Every request that leaves is counted, also one that fails, under provider, route, method, status class, job and
 *   cause, with bytes and latency. What is refused before it leaves is not counted, because it was not sent.
 * - A call sends one request or none: nothing is sent again by itself, no redirect is followed (a credential must not
 *   travel), and a failure costs no more than a success.
 * - One limiter per credential: a `Retry-After`, an announced reset and a budget bind all its users. While the service
 *   refuses requests a call rejects at once with `request_limited`, and `details.until` says until when.
 * - Every call ends: connecting, waiting for the head and reading the body have their limits, an answer its largest size.
 * - A credential appears in no error, log line or count. Plain `http` is for loopback, or where the caller insists.
 */
export interface HttpClient {
  /**
   * Resolves with the answer, whatever its status. Rejects with `request_limited` (nothing was sent), `request_failed`
   * (no whole answer: refused, cut, timed out, too large; `details.reason` says which), or the signal's reason.
   */
  send(request: HttpRequest): Promise<HttpAnswer>;
  /** How short requests are just now. */
  pressure(): RequestPressure;
  /** The windows that budgets and the service's own headers speak of, for people. */
  windows(): readonly RequestWindow[];
}

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly url: string;
  /** What it is counted under: a template such as `/issues/:id`, or the name of a GraphQL operation; never an id. */
  readonly route: string;
  /** Secrets belong here and nowhere else. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The status says all: the body of the answer is not read, however long or slow it is, and comes as an empty text. */
  readonly dropsBody?: boolean;
  readonly caller: RequestCaller;
  readonly signal?: AbortSignal;
}

export interface HttpAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Decoded as UTF-8. For a 304 the body that was kept with the same validator. */
  readonly body: string;
  /** A GET that the service answered with 304: what was read before still holds. */
  readonly isUnchanged: boolean;
}

/** What is particular to a service. */
export interface HttpProvider {
  /** `linear`, `github`, … */
  readonly name: string;
  /** The limits that the headers of an answer announce. */
  readonly announced: (headers: HttpAnswer['headers'], now: number) => readonly AnnouncedLimit[];
  /** Whether an answer says that there were too many requests (429 always does), and until when if it says so. */
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

/** A request that has left, as it is counted. */
export interface SentRequest extends RequestCaller {
  readonly at: number;
  readonly provider: string;
  readonly route: string;
  readonly method: string;
  /** `2xx`, `4xx`, …, or `error` when there was no whole answer. */
  readonly statusClass: string;
  /** Of the body sent and the body received, as they were on the wire. */
  readonly bytes: number;
  readonly latencyMs: number;
}
