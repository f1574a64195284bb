import { type Clock, within } from '../clock/clock.ts';
import type { Logger } from '../core/logger.ts';
import type { RequestPressure } from '../core/requests/request-pressure.ts';
import type { RequestAllowance } from '../core/settings/setting.ts';
import type { Settings } from '../core/settings.ts';
import type { Secret } from '../core/text/secret.ts';
import type { HttpClient, HttpProvider, RequestWindow, SentRequest } from '../http/http.ts';
import { KeptRetryAfter, type RefusalMemory } from '../http/kept-retry-after.ts';
import type { Limiter } from '../http/limiter.ts';
import { credentialDigest, type LimiterRegistry } from '../http/limiter-registry.ts';
import { createHttpClient } from '../http/metered-client.ts';
import type { RequestBudget, RequestHistory } from '../http/spent-requests.ts';
import type { Transport } from '../http/transport.ts';
import { createUndiciTransport } from '../http/undici-transport.ts';
import type { Counters } from '../store/tables/counters.ts';
import type { RequestCounts } from '../store/tables/request-counts.ts';
import type { Surroundings } from './surroundings.ts';

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
/** The hour that a budget speaks of, and the minute that goes on. */
const hourMs = 61 * minuteMs;
/** The end waits no longer for a store to take down what it has to know. */
const lastWriteMs = 2_000;

/** What is kept of requests belongs to no issue. Should a tracker have one of this id: the names are not an issue's. */
const noIssue = '@requests';
/** Provider and credential; the value is the time in UTC milliseconds. */
const doorName = /^closed_until (\S+) (\S+)$/;
/** So much of a digest tells credentials apart. */
const digestLength = 16;

export interface RemoteParts {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Where requests are counted, and closed doors kept. */
  readonly store: {
    readonly requestCounts: Pick<RequestCounts, 'add' | 'series'>;
    readonly counters?: DoorCounters;
  };
  /** What tells this store from others in the process; two that are the same store have to have the same. */
  readonly storeKey?: string;
  /** Under which project of the store closed doors are kept; where it is null, or the store has no counters, none is. */
  readonly project?: string | null;
  /** One for the whole process: projects that share a credential share its limits. */
  readonly limiters: LimiterRegistry;
  /** As the workflow file has it now. */
  readonly budget: () => Settings['polling']['budget'];
  readonly surroundings: Pick<Surroundings, 'env' | 'version'>;
  /** Hears of each request that was answered, or was not. It must be quick, and not throw. */
  readonly onSent?: (sent: SentRequest) => void;
  /** Another way out than the network, for a simulation. */
  readonly transport?: Transport;
}

/** What is known of the requests to one service. */
export interface RemoteView {
  readonly provider: string;
  readonly pressure: RequestPressure;
  readonly windows: readonly RequestWindow[];
}

type DoorCounters = Pick<Counters, 'read' | 'set' | 'clear'>;

interface Service {
  readonly provider: HttpProvider;
  readonly limiter: Limiter;
  readonly client: HttpClient;
}

/**
 * The remote services that a project uses: their clients, on one transport, counted in its store. What was counted before
 * a restart, and by other daemons on the store, counts for the budgets, and what an earlier life was refused is not asked
 * for before its time.
 */
export class Remote implements AsyncDisposable {
  readonly #parts: RemoteParts;
  readonly #services = new Map<Limiter, Service>();
  readonly #storeKey: string;
  readonly #doors: KeptRetryAfter | null;
  #transport: Transport | null = null;

  constructor(parts: RemoteParts) {
    this.#parts = parts;
    this.#storeKey = parts.storeKey ?? '';
    const { project = null, store, clock, logger } = parts;
    const isKept = project !== null && store.counters !== undefined;
    this.#doors = isKept ? new KeptRetryAfter(doorsIn(store.counters, project, clock), logger) : null;
  }

  /** A client for this credential; the same credential has the same limits. */
  client(provider: HttpProvider, credential: Secret | null, allowInsecure: boolean): HttpClient {
    const { clock, logger, limiters, surroundings } = this.#parts;
    this.#transport ??=
      this.#parts.transport ??
      createUndiciTransport({ environment: surroundings.env, userAgent: `baton/${surroundings.version}` });
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
        void this.#doors?.keep();
        return this.#count(sent);
      },
    });
    this.#services.set(limiter, { provider, limiter, client });
    const digest = credentialDigest(credential).slice(0, digestLength);
    this.#doors?.watch(limiter, { provider: provider.name, credential: digest });
    // Who does not wait for a refresh has a good chance all the same that it is known before a connection is made.
    void this.#doors?.recall();
    return client;
  }

  /** Takes in what the store knows, from whomever: closed doors and counts. Rejects when it does not tell the counts. */
  async refresh(): Promise<void> {
    await this.#doors?.recall();
    await this.#doors?.keep();
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
    if (this.#doors !== null) await within(this.#parts.clock, lastWriteMs, this.#doors.keep());
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

  #count({ at, provider, route, method, statusClass, job, cause, bytes, latencyMs }: SentRequest): Promise<void> {
    return this.#parts.store.requestCounts.add({
      at,
      provider,
      route,
      method,
      statusClass,
      job,
      cause,
      bytes,
      latencyMs,
    });
  }
}

/** Closed doors as counters of the project. What is over goes when another is written. */
function doorsIn(counters: DoorCounters, project: string, clock: Clock): RefusalMemory {
  const key = { project, issueId: noIssue };
  return {
    load: async () =>
      Object.entries(await counters.read(key)).flatMap(([name, until]) => {
        const [, provider, credential] = doorName.exec(name) ?? [];
        return provider === undefined || credential === undefined ? [] : [{ provider, credential, until }];
      }),
    save: async ({ provider, credential, until }) => {
      const name = `closed_until ${provider} ${credential}`;
      await (until === 0 ? counters.clear(key, [name]) : counters.set(key, name, until));
      const rows = Object.entries(await counters.read(key));
      const over = rows.filter(([each, at]) => doorName.test(each) && at <= clock.now()).map(([each]) => each);
      if (over.length > 0) await counters.clear(key, over);
    },
  };
}

/** The allowance of one provider, where the workflow file names one for it or one for all. */
export function allowanceOf(allowance: RequestAllowance | null, provider: string): number | null {
  if (allowance === null || typeof allowance === 'number') return allowance;
  return Object.hasOwn(allowance, provider) ? (allowance[provider] ?? null) : null;
}
