import {
  answerRequest,
  type Desk,
  type FakeAnswer,
  type FakeRequest,
  type LoggedRequest,
  logRequest,
} from './answer-request.ts';
import { type Faults, noFaults } from './faults.ts';
import type { CursorKind } from './page.ts';
import { createRateMeter, type RateLimits } from './rate-limits.ts';
import { type Listener, listen } from './serve.ts';
import { createWorkspace, type Workspace } from './workspace.ts';

/**
 * A Linear that stores its changes, on Linear's real schema. What must hold:
 *
 * - It answers like Linear or not at all: a request that it does not model gets a 501 and an entry in `complaints`.
 * - It begins with a user `Someone` who owns the key, a team `BAT` with Linear's usual states and a project with the
 *   slug `baton`, unless it is created empty.
 * - Requests are logged when they arrive, also those that fail.
 */
export interface FakeLinearCore extends Workspace {
  /** One request, without sockets; a promise only where something has to be waited for. */
  handle(request: FakeRequest): FakeAnswer | Promise<FakeAnswer>;
  readonly faults: Faults;
  readonly limits: RateLimits;
  /** Oldest first. */
  readonly requests: LoggedRequest[];
  /** How many requests there were of each operation. */
  counts(): Readonly<Record<string, number>>;
  forgetRequests(): void;
  /** Requests that the fake does not model; a test with an entry here did not test what it meant to. */
  readonly complaints: readonly string[];
  readonly apiKey: string;
  readonly oauthToken: string;
}

export interface FakeLinearOptions {
  readonly now: () => number;
  /** For `faults.latencyMs`; the machine's own timers unless said. */
  readonly wait?: (ms: number) => Promise<void>;
  readonly apiKey?: string;
  readonly oauthToken?: string;
  readonly cursors?: CursorKind;
  readonly isEmpty?: boolean;
}

export function createFakeLinearCore(options: FakeLinearOptions): FakeLinearCore {
  const { now, wait = realWait, apiKey = 'lin_api_fake', oauthToken = 'lin_oauth_fake' } = options;
  const workspace = createWorkspace(now);
  if (options.isEmpty !== true) {
    workspace.addUser({ name: 'Someone' });
    workspace.addTeam({ key: 'BAT' });
    workspace.addProject({ slugId: 'baton' });
  }
  const desk: Desk = {
    workspace,
    faults: noFaults(),
    meter: createRateMeter(),
    keys: { apiKey, oauthToken },
    cursors: options.cursors ?? 'place',
    now,
    complaints: [],
  };
  const requests: LoggedRequest[] = [];

  const answered = (log: LoggedRequest, answer: FakeAnswer): FakeAnswer => {
    log.status = answer.status;
    return answer;
  };
  const handle = (request: FakeRequest): FakeAnswer | Promise<FakeAnswer> => {
    if (desk.faults.down) return { status: 0, headers: {}, body: '', cut: 'refused' };
    const log = logRequest(request, now());
    requests.push(log);
    if (desk.faults.latencyMs > 0) {
      const late = wait(desk.faults.latencyMs).then(() => answerRequest(desk, request, log));
      return late.then((answer) => answered(log, answer));
    }
    const answer = answerRequest(desk, request, log);
    return answer instanceof Promise ? answer.then((each) => answered(log, each)) : answered(log, answer);
  };

  return {
    ...workspace,
    handle,
    faults: desk.faults,
    limits: desk.meter,
    requests,
    counts: () => {
      const sums: Record<string, number> = {};
      for (const { operation } of requests) sums[operation ?? ''] = (sums[operation ?? ''] ?? 0) + 1;
      return sums;
    },
    forgetRequests: () => {
      requests.length = 0;
    },
    complaints: desk.complaints,
    apiKey,
    oauthToken,
  };
}

/** The same over real HTTP, on loopback. */
export interface FakeLinear extends FakeLinearCore, AsyncDisposable {
  /** `http://127.0.0.1:…/graphql`; it stays the same, also after an outage. */
  readonly url: string;
  /** Connections are cut and new ones refused. */
  goDown(): Promise<void>;
  comeBack(): Promise<void>;
}

export async function startFakeLinear(options: Partial<FakeLinearOptions> = {}): Promise<FakeLinear> {
  const core = createFakeLinearCore({ now: Date.now, ...options });
  let listener: Listener | null = await listen(core.handle, 0);
  const { port } = listener;
  const goDown = async (): Promise<void> => {
    const before = listener;
    listener = null;
    await before?.close();
  };
  return {
    ...core,
    url: `http://127.0.0.1:${port}/graphql`,
    goDown,
    comeBack: async () => {
      listener ??= await listen(core.handle, port);
    },
    [Symbol.asyncDispose]: goDown,
  };
}

/** No client waits for a late answer. */
function realWait(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}
