import { type Clock, within } from '../clock/clock.ts';
import type { Logger } from '../core/logger.ts';
import type { RequestPressure } from '../core/requests/request-pressure.ts';
import type { RequestAllowance } from '../core/settings/setting.ts';
import type { Settings } from '../core/settings.ts';
import type { Secret } from '../core/text/secret.ts';
import type { HttpClient, HttpProvider, RequestWindow, SentRequest } from '../http/http.ts';
import type { Limiter } from '../http/limiter.ts';
import { credentialDigest, type LimiterRegistry } from '../http/limiter-registry.ts';
import { createHttpClient } from '../http/metered-client.ts';
import { type RefusalMemory, SavedRetryAfter } from '../http/saved-retry-after.ts';
import type { RequestBudget, RequestHistory } from '../http/spent-requests.ts';
import { loadOnFirstUse, type Transport } from '../http/transport.ts';
import type { Counters } from '../store/tables/counters.ts';
import type { RequestCounts } from '../store/tables/request-counts.ts';
import type { Surroundings } from './surroundings.ts';

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
/** The hour of a budget, plus the minute in progress. */
const hourMs = 61 * minuteMs;
/** Counts are written at most this often, unless as many requests as the second number wait; a killed daemon loses no more. */
const countTogetherMs = 500;
const mostUncounted = 4;
/** How long the shutdown waits for the store to take the last counts. */
const lastWriteMs = 2_000;

/**
 * Stands in for an issue id, because these records belong to no issue. If a tracker has an issue of this id, the
 * counter names still differ.
 */
const noIssue = '@requests';
/** The name of a counter, with provider and credential; its value is the time in UTC milliseconds. */
const counterName = /^closed_until (\S+) (\S+)$/;
/** This many characters of a digest are enough to distinguish credentials. */
const digestLength = 16;

export interface RemoteParts {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Where requests are counted and retry-after times are stored. */
  readonly store: {
    readonly requestCounts: Pick<RequestCounts, 'add' | 'series'>;
    readonly counters?: RetryCounters;
  };
  /** Identifies the store within the process; must be equal for the same store. */
  readonly storeKey?: string;
  /**
   * The project under which retry-after times are stored; none are stored when it is null or the store has no counters.
   */
  readonly project?: string | null;
  /** One for the whole process: projects that share a credential share its limits. */
  readonly limiters: LimiterRegistry;
  /** As the workflow file currently says. */
  readonly budget: () => Settings['polling']['budget'];
  readonly surroundings: Pick<Surroundings, 'env' | 'version'>;
  /** Called after each request, answered or not. Must be quick and must not throw. */
  readonly onSent?: (sent: SentRequest) => void;
  /** Replaces the network in a simulation. */
  readonly transport?: Transport;
}

/** The state of the requests to one service. */
export interface RemoteView {
  readonly provider: string;
  readonly pressure: RequestPressure;
  readonly windows: readonly RequestWindow[];
}

type RetryCounters = Pick<Counters, 'read' | 'set' | 'clear'>;

interface Service {
  readonly provider: HttpProvider;
  readonly limiter: Limiter;
  readonly client: HttpClient;
}

/**
 * The remote services of a project: their clients, on one transport, counted in its store. Requests from before a
 * restart, and of other daemons on the store, count for the budgets. A service that refused a previous daemon is not
 * asked again before the announced time.
 */
export class Remote implements AsyncDisposable {
  readonly #parts: RemoteParts;
  readonly #services = new Map<Limiter, Service>();
  readonly #storeKey: string;
  readonly #retryAfter: SavedRetryAfter | null;
  #transport: Transport | null = null;
  readonly #unwritten: SentRequest[] = [];
  #writing: Promise<void> | null = null;
  #writeNow: () => void = () => {};
  #writtenAt = Number.NEGATIVE_INFINITY;

  constructor(parts: RemoteParts) {
    this.#parts = parts;
    this.#storeKey = parts.storeKey ?? '';
    const { project = null, store, clock, logger } = parts;
    const isKept = project !== null && store.counters !== undefined;
    this.#retryAfter = isKept ? new SavedRetryAfter(retryAfterIn(store.counters, project, clock), logger) : null;
  }

  /** A client for this credential; the same credential has the same limits. */
  client(provider: HttpProvider, credential: Secret | null, allowInsecure: boolean): HttpClient {
    const { clock, logger, limiters, surroundings } = this.#parts;
    this.#transport ??=
      this.#parts.transport ??
      loadOnFirstUse(async () => {
        const { createUndiciTransport } = await import('../http/undici-transport.ts');
        return createUndiciTransport({ environment: surroundings.env, userAgent: `baton/${surroundings.version}` });
      });
    const limiter = limiters.limiterOf(provider, credential);
    const client = createHttpClient({
      provider,
      credential,
      limiters,
      clock,
      logger,
      allowInsecure,
      transport: this.#transport,
      source: this.#storeKey,
      budget: () => this.#budgetOf(provider.name),
      onSent: (sent) => {
        this.#parts.onSent?.(sent);
        void this.#retryAfter?.keep();
        return this.#count(sent);
      },
    });
    this.#services.set(limiter, { provider, limiter, client });
    const digest = credentialDigest(credential).slice(0, digestLength);
    this.#retryAfter?.watch(limiter, { provider: provider.name, credential: digest });
    // A caller that does not await `refresh` still most likely has these times before its first connection.
    void this.#retryAfter?.recall();
    return client;
  }

  /** Reads retry-after times and counts of all daemons from the store. Rejects when it cannot read the counts. */
  async refresh(): Promise<void> {
    await this.#retryAfter?.recall();
    await this.#retryAfter?.keep();
    for (const { provider, limiter } of this.#services.values()) {
      await limiter.seed(this.#storeKey, () => this.#history(provider.name));
    }
  }

  views(): readonly RemoteView[] {
    return [...this.#services.values()].map(({ provider, client }) => ({
      provider: provider.name,
      pressure: client.pressure(),
      windows: client.windows(),
    }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#writeNow();
    if (this.#writing !== null)
      await within(
        this.#parts.clock,
        lastWriteMs,
        this.#writing.catch(() => {}),
      );
    if (this.#retryAfter !== null) await within(this.#parts.clock, lastWriteMs, this.#retryAfter.keep());
    await this.#transport?.[Symbol.asyncDispose]();
    this.#transport = null;
  }

  #budgetOf(provider: string): RequestBudget {
    const { requestsPerHour, requestsPerDay } = this.#parts.budget();
    return {
      requestsPerHour: allowanceOf(requestsPerHour, provider),
      requestsPerDay: allowanceOf(requestsPerDay, provider),
    };
  }

  async #history(provider: string): Promise<RequestHistory> {
    const { store, clock } = this.#parts;
    const now = clock.now();
    const [minutes, days] = await Promise.all([
      store.requestCounts.series({ bucket: 'minute', from: now - hourMs, to: now + minuteMs, provider }),
      store.requestCounts.series({ bucket: 'day', from: now - dayMs, to: now + dayMs, provider }),
    ]);
    return { minutes, days };
  }

  /** Resolves when the store has the request. Counts are written together, but the first after a pause at once. */
  #count(sent: SentRequest): Promise<void> {
    const { clock, store } = this.#parts;
    this.#unwritten.push(sent);
    this.#writing ??= new Promise<void>((resolve) => {
      const timer = clock.schedule(this.#writtenAt + countTogetherMs - clock.monotonic(), resolve);
      this.#writeNow = () => {
        timer.cancel();
        resolve();
      };
    }).then(() => {
      this.#writing = null;
      this.#writtenAt = clock.monotonic();
      return store.requestCounts.add(...this.#unwritten.splice(0));
    });
    const written = this.#writing;
    if (this.#unwritten.length >= mostUncounted) this.#writeNow();
    return written;
  }
}

/** Retry-after times as counters of the project. Expired ones are removed when another is written. */
function retryAfterIn(counters: RetryCounters, project: string, clock: Clock): RefusalMemory {
  const key = { project, issueId: noIssue };
  return {
    load: async () =>
      Object.entries(await counters.read(key)).flatMap(([name, until]) => {
        const [, provider, credential] = counterName.exec(name) ?? [];
        return provider === undefined || credential === undefined ? [] : [{ provider, credential, until }];
      }),
    save: async ({ provider, credential, until }) => {
      const name = `closed_until ${provider} ${credential}`;
      await (until === 0 ? counters.clear(key, [name]) : counters.set(key, name, until));
      const rows = Object.entries(await counters.read(key));
      const over = rows.filter(([each, at]) => counterName.test(each) && at <= clock.now()).map(([each]) => each);
      if (over.length > 0) await counters.clear(key, over);
    },
  };
}

/** The allowance of one provider, if the workflow file sets one for it or one for all. */
export function allowanceOf(allowance: RequestAllowance | null, provider: string): number | null {
  if (allowance === null || typeof allowance === 'number') return allowance;
  return Object.hasOwn(allowance, provider) ? (allowance[provider] ?? null) : null;
}
