import type { Clock } from '../clock/clock.ts';
import type { Logger } from '../core/logger.ts';
import type { RequestPressure } from '../core/request-pressure.ts';
import type { Secret } from '../core/secret.ts';
import type { RequestAllowance, Settings } from '../core/settings.ts';
import type { HttpClient, HttpProvider, RequestWindow, SentRequest } from '../http/http.ts';
import type { Limiter } from '../http/limiter.ts';
import type { LimiterRegistry } from '../http/limiter-registry.ts';
import { createHttpClient } from '../http/metered-client.ts';
import type { RequestBudget, RequestHistory } from '../http/spent-requests.ts';
import type { Transport } from '../http/transport.ts';
import { createUndiciTransport } from '../http/undici-transport.ts';
import type { RequestCounts } from '../store/request-counts.ts';
import type { Surroundings } from './surroundings.ts';

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
/** The hour that a budget speaks of, and the minute that goes on. */
const hourMs = 61 * minuteMs;

export interface RemoteParts {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Where requests are counted. */
  readonly store: { readonly requestCounts: Pick<RequestCounts, 'add' | 'series'> };
  /** One for the whole process: projects that share a credential share its limits. */
  readonly limiters: LimiterRegistry;
  /** As the workflow file has it now. */
  readonly budget: () => Settings['polling']['budget'];
  readonly surroundings: Pick<Surroundings, 'env' | 'version'>;
  /** Another way out than the network, for a simulation. */
  readonly transport?: Transport;
}

/** What is known of the requests to one service. */
export interface RemoteView {
  readonly provider: string;
  readonly pressure: RequestPressure;
  readonly windows: readonly RequestWindow[];
}

interface Service {
  readonly provider: HttpProvider;
  readonly limiter: Limiter;
  readonly client: HttpClient;
}

/**
 * The remote services that a project uses: their clients, on one transport, counted in its store. What was counted before
 * a restart, and by other daemons on the store, counts for the budgets.
 */
export class Remote implements AsyncDisposable {
  readonly #parts: RemoteParts;
  readonly #services = new Map<Limiter, Service>();
  #transport: Transport | null = null;

  constructor(parts: RemoteParts) {
    this.#parts = parts;
  }

  /** A client for this credential; the same credential has the same limits. */
  client(provider: HttpProvider, credential: Secret | null, allowInsecure: boolean): HttpClient {
    const { clock, logger, limiters, surroundings } = this.#parts;
    this.#transport ??=
      this.#parts.transport ??
      createUndiciTransport({ environment: surroundings.env, userAgent: `baton/${surroundings.version}` });
    const limiter = limiters.limiterOf(provider, credential);
    const client = createHttpClient({
      ...{ provider, credential, limiters, clock, logger, allowInsecure, transport: this.#transport },
      budget: () => this.#budgetOf(provider.name),
      onSent: (sent) => this.#count(sent),
    });
    this.#services.set(limiter, { provider, limiter, client });
    return client;
  }

  /** Takes in what the store has counted, by whomever. Rejects when it does not tell. */
  async refresh(): Promise<void> {
    for (const { provider, limiter } of this.#services.values()) await limiter.seed(() => this.#history(provider.name));
  }

  views(): readonly RemoteView[] {
    return [...this.#services.values()].map(({ provider, client }) => ({
      provider: provider.name,
      pressure: client.pressure(),
      windows: client.windows(),
    }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
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
      ...{ at, provider, route, method, statusClass, job, cause, bytes, latencyMs },
    });
  }
}

function allowanceOf(allowance: RequestAllowance | null, provider: string): number | null {
  if (allowance === null || typeof allowance === 'number') return allowance;
  return Object.hasOwn(allowance, provider) ? (allowance[provider] ?? null) : null;
}
