import type { Clock } from '../../../src/clock/clock.ts';
import type { TrackerSettings } from '../../../src/core/settings.ts';
import { Secret } from '../../../src/core/text/secret.ts';
import type { HttpClient, SentRequest } from '../../../src/http/http.ts';
import { createLimiterRegistry } from '../../../src/http/limiter-registry.ts';
import { createHttpClient } from '../../../src/http/metered-client.ts';
import type { Transport } from '../../../src/http/transport.ts';
import { linearProvider } from '../../../src/tracker/linear/linear-provider.ts';
import { createLinearTracker } from '../../../src/tracker/linear/linear-tracker.ts';
import type { Snapshot, SnapshotRequest, Tracker } from '../../../src/tracker/tracker.ts';
import { createFakeLinearCore, type FakeLinearCore, type FakeLinearOptions } from '../../fake/linear/fake-linear.ts';
import { type MemoryLogger, memoryLogger } from '../../fake/memory-logger.ts';
import { settings } from '../../fake/settings.ts';
import { SimulatedClock } from '../../fake/simulated-clock.ts';

export interface LinearScene {
  readonly linear: FakeLinearCore;
  readonly tracker: Tracker;
  readonly http: HttpClient;
  readonly settings: TrackerSettings;
  readonly clock: SimulatedClock;
  readonly logger: MemoryLogger;
  readonly sent: readonly SentRequest[];
  /** Another tracker on the same Linear, with no earlier reads. */
  fresh(): Tracker;
  /** A poll; by default nothing is watched and the states are the usual ones. */
  poll(wish?: Partial<SnapshotRequest>): Promise<Snapshot>;
  /** The operations that an action sends. */
  operationsOf(work: () => Promise<unknown>): Promise<string[]>;
}

/** The adapter on a fake Linear without sockets, under a simulated clock. */
export function linearScene(
  provider: Readonly<Record<string, unknown>> = {},
  options: Partial<FakeLinearOptions> = {},
): LinearScene {
  const clock = new SimulatedClock();
  const linear = createFakeLinearCore({ now: () => clock.now(), wait: () => Promise.resolve(), ...options });
  const logger = memoryLogger();
  const sent: SentRequest[] = [];
  const given = linearSettings({ endpoint: 'https://linear.test/graphql', ...provider });
  const http = linearClient(given, inProcess(linear), clock, logger, (request) => void sent.push(request));
  const fresh = (): Tracker => createLinearTracker({ settings: given, http, clock, logger });
  const tracker = fresh();
  return {
    fresh,
    linear,
    tracker,
    http,
    settings: given,
    clock,
    logger,
    sent,
    poll: async (wish = {}) => {
      const snapshot = await tracker.fetchSnapshot?.({ states: ['Todo', 'In Progress'], watched: [], ...wish });
      if (snapshot === undefined) throw new Error('the tracker has no snapshots');
      return snapshot;
    },
    operationsOf: async (work) => {
      const before = linear.requests.length;
      await work();
      return linear.requests.slice(before).map(({ operation }) => operation ?? '');
    },
  };
}

/** Settings of the `linear` kind as a workflow file gives them, for the project and key of a fake Linear. */
export function linearSettings(provider: Readonly<Record<string, unknown>>): TrackerSettings {
  return settings({
    tracker: {
      kind: 'linear',
      provider: {
        api_key: new Secret('lin_api_fake'),
        project_slug: 'baton',
        assignee: null,
        allow_insecure_endpoint: false,
        ...provider,
      },
    },
  }).tracker;
}

export function linearClient(
  { provider }: TrackerSettings,
  transport: Transport,
  clock: Clock,
  logger: MemoryLogger,
  onSent: (sent: SentRequest) => void = () => {},
): HttpClient {
  return createHttpClient({
    provider: linearProvider,
    credential: provider.api_key instanceof Secret ? provider.api_key : null,
    limiters: createLimiterRegistry(clock),
    transport,
    clock,
    logger,
    budget: () => ({ requestsPerHour: null, requestsPerDay: null }),
    onSent,
    allowInsecure: false,
    callTimeoutMs: 2_000,
  });
}

function inProcess(linear: FakeLinearCore): Transport {
  return {
    send: async ({ method, headers, body, signal, beforeLeaving }) => {
      signal.throwIfAborted();
      beforeLeaving?.();
      const answer = await linear.handle({ method, headers, body: body ?? '' });
      if (answer.cut !== null) throw new Error('the connection was cut');
      return { status: answer.status, headers: answer.headers, body: answer.body, bytes: answer.body.length };
    },
    [Symbol.asyncDispose]: async () => {},
  };
}
