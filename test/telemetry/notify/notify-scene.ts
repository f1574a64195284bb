import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished } from 'vitest';
import { type NeedsYouFact, type NotifyFacts, notifyEvents } from '../../../src/core/notify/notify-cause.ts';
import type { NotifySettings, NotifyTarget } from '../../../src/core/settings.ts';
import { Secret } from '../../../src/core/text/secret.ts';
import { createLimiterRegistry } from '../../../src/http/limiter-registry.ts';
import { createHttpClient } from '../../../src/http/metered-client.ts';
import type { Transport, TransportRequest } from '../../../src/http/transport.ts';
import { createUndiciTransport } from '../../../src/http/undici-transport.ts';
import type { Store } from '../../../src/store/store.ts';
import { createNotifier, type Notifier, type NotifierOptions } from '../../../src/telemetry/notify/notifier.ts';
import { notifyProvider, type RunCommand } from '../../../src/telemetry/notify/send-message.ts';
import { memoryLogger } from '../../fake/memory-logger.ts';
import { seededChance } from '../../fake/seeded-chance.ts';
import { settings } from '../../fake/settings.ts';
import { SimulatedClock } from '../../fake/simulated-clock.ts';
import { httpService } from '../../http/scratch-service.ts';

export const secret = 'signing-secret-0f3b';
const midday = Date.UTC(2026, 0, 5, 12);

/** A life of the notifier over a store that may outlive it, under a clock that stands still. */
export interface Scene {
  readonly clock: SimulatedClock;
  readonly logger: ReturnType<typeof memoryLogger>;
  readonly notifier: Notifier;
  /** What holds from now on. */
  change(notify: Partial<NotifySettings>): void;
}

export interface SceneOptions {
  readonly store: Pick<Store, 'notifications'>;
  readonly notify: Partial<NotifySettings>;
  /** `tracker.comments`. */
  readonly comments?: boolean;
  readonly clock?: SimulatedClock;
  readonly transport?: Transport;
  readonly runCommand?: RunCommand;
  readonly seed?: number;
  readonly daemon?: string;
  readonly more?: Partial<NotifierOptions>;
}

export function midDay(): SimulatedClock {
  return new SimulatedClock({ startAt: midday });
}

export function begin(options: SceneOptions): Scene {
  const clock = options.clock ?? midDay();
  const logger = memoryLogger();
  const limiters = createLimiterRegistry(clock);
  const transport = options.transport ?? createUndiciTransport({ environment: {}, userAgent: 'baton/test' });
  let now = settings({ notify: options.notify, tracker: { comments: options.comments ?? false } });
  const notifier = createNotifier({
    store: options.store,
    project: 'shop',
    daemon: options.daemon ?? 'd1',
    clock,
    chance: seededChance(options.seed ?? 1),
    settings: () => now,
    logger,
    runCommand: options.runCommand ?? (() => Promise.reject(new Error('there is no command'))),
    comment: () => Promise.reject(new Error('there is no tracker')),
    http: (url, allowInsecure) =>
      createHttpClient({
        provider: notifyProvider,
        credential: url,
        limiters,
        transport,
        clock,
        logger,
        allowInsecure,
        budget: () => ({ requestsPerHour: null, requestsPerDay: null }),
        onSent: () => {},
      }),
    ...options.more,
  });
  onTestFinished(async () => {
    await notifier.close();
    if (options.transport === undefined) await transport[Symbol.asyncDispose]();
  });
  const change = (notify: Partial<NotifySettings>): void => {
    now = settings({ notify });
  };
  return { clock, logger, notifier, change };
}

export const webhook = (url: string, events: NotifyTarget['events'] = notifyEvents): NotifyTarget => ({
  kind: 'webhook',
  url: new Secret(url),
  secret: new Secret(secret),
  allowInsecure: false,
  events,
});

export const slack = (url: string): NotifyTarget => ({
  kind: 'slack',
  url: new Secret(url),
  allowInsecure: false,
  events: notifyEvents,
});

export const nobodyNeeded: NotifyFacts = { at: midday, isComplete: true, needsYou: [], finished: [] };

export function facts(...needsYou: readonly NeedsYouFact[]): NotifyFacts {
  return { ...nobodyNeeded, needsYou };
}

export function held(number: number, over: Partial<NeedsYouFact> = {}): NeedsYouFact {
  return {
    kind: 'held',
    key: `held:i${number}`,
    code: 'retries_exhausted',
    reason: `its last 3 runs failed: exit ${number}`,
    since: midday - 1_000,
    issue: {
      id: `i${number}`,
      identifier: `SHOP-${number}`,
      title: `Mend door ${number}`,
      url: `https://t.example/${number}`,
    },
    runId: `r${number}`,
    questionId: null,
    repeats: null,
    actions: ['issue_retry', 'issue_takeover'],
    ...over,
  };
}

/** A limit of the day that is reached, as the Now screen has it: of that day, and of that allowance. */
export function dayLimit(day: string, allowedAfter = 0, over: Partial<NeedsYouFact> = {}): NeedsYouFact {
  return held(0, {
    kind: 'limit',
    key: `limit:tokens_per_day:${day}:${allowedAfter}`,
    code: 'tokens_per_day',
    since: null,
    issue: null,
    runId: null,
    reason: 'The limit of the day is reached.',
    actions: ['resume'],
    ...over,
  });
}

export interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  // biome-ignore lint/suspicious/noExplicitAny: what came over the wire, for a test to look into.
  readonly json: any;
}

export interface Receiver {
  readonly url: string;
  readonly received: readonly Received[];
  /** How the next requests are answered, one each; then with 200. */
  readonly next: ((response: ServerResponse) => void)[];
}

/** A real receiver on loopback. */
export async function receiver(): Promise<Receiver> {
  const received: Received[] = [];
  const next: Receiver['next'] = [];
  const service = await httpService((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const body = Buffer.concat(pieces).toString('utf8');
      received.push({ headers: request.headers, body, json: JSON.parse(body) });
      const answer = next.shift();
      if (answer === undefined) response.writeHead(200).end('ok');
      else answer(response);
    });
  });
  onTestFinished(() => service[Symbol.asyncDispose]());
  return { url: `${service.url}/hook`, received, next };
}

export const status =
  (code: number, headers: Record<string, string> = {}) =>
  (response: ServerResponse): void =>
    void response.writeHead(code, headers).end();

/** A transport with the far side of the wire in it: what it is given, and what it answers. */
export function wire(
  answer: (request: TransportRequest) => number | Promise<number>,
): Transport & { readonly bodies: string[] } {
  const bodies: string[] = [];
  return {
    bodies,
    send: async (request) => {
      request.beforeLeaving?.();
      bodies.push(request.body ?? '');
      return { status: await answer(request), headers: {}, body: '', bytes: 0 };
    },
    [Symbol.asyncDispose]: async () => {},
  };
}

/** Until something is so, in the time of the machine: sockets do not know the clock of the test. */
export async function until(clock: SimulatedClock, isSo: () => boolean): Promise<void> {
  const end = performance.now() + 5_000;
  while (!isSo()) {
    expect(performance.now(), 'it takes too long').toBeLessThan(end);
    await clock.settle();
    await sleep(2);
  }
}

/** Time for something to happen that should not. */
export async function quietly(clock: SimulatedClock): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) {
    await clock.settle();
    await sleep(3);
  }
}
