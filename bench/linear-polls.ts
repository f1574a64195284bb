import path from 'node:path';
import { sleep } from '../src/clock/clock.ts';
import { systemClock } from '../src/clock/system-clock.ts';
import type { TrackerSettings } from '../src/core/settings.ts';
import { Secret } from '../src/core/text/secret.ts';
import { createLimiterRegistry } from '../src/http/limiter-registry.ts';
import { createHttpClient } from '../src/http/metered-client.ts';
import { createUndiciTransport } from '../src/http/undici-transport.ts';
import { linearProvider } from '../src/tracker/linear/linear-provider.ts';
import { createLinearTracker } from '../src/tracker/linear/linear-tracker.ts';
import { linearProfile } from '../src/tracker/linear/profile.ts';
import { type FakeLinear, startFakeLinear } from '../test/fake/linear/fake-linear.ts';
import { memoryLogger } from '../test/fake/memory-logger.ts';
import { type BenchDaemon, openBenchDaemon, processDeps } from './bench-daemon.ts';
import type { Figure } from './report.ts';
import { Scratch } from './scratch.ts';
import { workflowText } from './workflow-text.ts';

const runs = 50;
const candidates = 500;
const polls = 20;
const intervalMs = 400;
const patienceMs = 120_000;
const minuteMs = 60_000;

/**
 * The requests of a poll of Linear with 50 runs and 500 more candidates: the real adapter against the fake Linear, over HTTP.
 * Every request that arrives is counted. Counts are the same on every machine.
 */
export async function benchLinearPolls(): Promise<readonly Figure[]> {
  using scratch = new Scratch();
  await using linear = await startFakeLinear();
  // Created one a minute, the last one a while ago, so that nothing changes now.
  const issues = Array.from({ length: runs + candidates }, (_, index) =>
    linear.addIssue({ createdAt: Date.now() - (runs + candidates - index + 10) * minuteMs }),
  );
  const transport = createUndiciTransport({ environment: {}, userAgent: 'baton-bench' });
  await using closing = new AsyncDisposableStack();
  closing.use(transport);
  const tracker = createLinearTracker({
    settings: settingsOf(linear),
    http: createHttpClient({
      provider: linearProvider,
      credential: new Secret(linear.apiKey),
      transport,
      clock: systemClock,
      limiters: createLimiterRegistry(systemClock),
      logger: memoryLogger(),
      allowInsecure: false,
      budget: () => ({ requestsPerHour: null, requestsPerDay: null }),
      onSent: async () => {},
    }),
    clock: systemClock,
    logger: memoryLogger(),
  });
  const workflow = workflowText({ intervalMs, slots: runs, command: 'cat > /dev/null; exec sleep 600' });
  const workflowPath = scratch.write('linear/WORKFLOW.md', workflow);
  const folder = path.join(scratch.folder, 'linear', 'state');
  await using daemon = await openBenchDaemon({ folder, workflowPath, process: await processDeps(), tracker });
  await daemon.orchestrator.start();
  await until(
    () => running(daemon) === runs,
    () => `${running(daemon)} of ${runs} run`,
  );
  const first = linear.counts();
  await wholePolls(linear, 3);

  const unchanged = await wholePolls(linear, polls);
  const changed = await costOf(linear, () => linear.updateIssue(issues.at(-1)?.id ?? '', { title: 'Another title' }));
  const ended = await costOf(linear, () => linear.updateIssue(issues[0]?.id ?? '', { state: 'Done' }));
  const size = `${runs} runs and ${candidates} candidates on Linear`;
  return [
    {
      what: `requests of a poll with ${size}, nothing changed (mean of ${polls})`,
      seen: `${perPoll(unchanged)} (${unchanged.complexity / unchanged.polls} points of complexity)`,
      aim: '2',
      ratio: null,
    },
    {
      what: 'the same, after a candidate changed',
      seen: `${changed.requests - 2 * (changed.polls - 1)}`,
      aim: null,
      ratio: null,
    },
    {
      what: 'the same, after someone closed a running issue: its run stops, its workspace is removed, the next one starts',
      seen: `${ended.requests - 2 * (ended.polls - 1)}`,
      aim: null,
      ratio: null,
    },
    {
      what: `requests from the start of the daemon to ${runs} runs with ${candidates} candidates`,
      seen: `${Object.values(first).reduce((sum, count) => sum + count, 0)} (${described(first)})`,
      aim: null,
      ratio: null,
    },
  ];
}

interface Cost {
  readonly requests: number;
  readonly polls: number;
  readonly complexity: number;
}

/** What arrives from here on, until so many polls have been answered and the next one begins. */
async function wholePolls(linear: FakeLinear, wanted: number): Promise<Cost> {
  const isPoll = ({ operation }: FakeLinear['requests'][number]): boolean => operation === 'BatonChanges';
  await until(
    () => linear.requests.some(isPoll),
    () => 'no poll arrived',
  );
  linear.forgetRequests();
  await until(
    () => linear.requests.filter(isPoll).length > wanted,
    () => `${linear.requests.length} requests arrived`,
  );
  // From the first poll to the last request before the one after the last.
  const begun = linear.requests.findIndex(isPoll);
  const places = linear.requests.flatMap((request, index) => (isPoll(request) ? index : []));
  const whole = linear.requests.slice(begun, places[wanted]);
  const complexity = whole.reduce((sum, each) => sum + Math.ceil(each.complexity ?? 0), 0);
  return { requests: whole.length, polls: wanted, complexity };
}

/** What a change costs: all requests of the polls around it. */
async function costOf(linear: FakeLinear, change: () => void): Promise<Cost> {
  const counted = wholePolls(linear, 8);
  await sleep(systemClock, intervalMs * 2);
  change();
  return counted;
}

function perPoll({ requests, polls: count }: Cost): string {
  const mean = requests / count;
  return Number.isInteger(mean) ? `${mean}` : mean.toFixed(2);
}

function described(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([operation, count]) => `${operation.replace('Baton', '')} ${count}`)
    .join(', ');
}

function running({ orchestrator }: BenchDaemon): number {
  return orchestrator.read().running.filter(({ process }) => process !== null).length;
}

function settingsOf(linear: FakeLinear): TrackerSettings {
  return {
    kind: 'linear',
    activeStates: linearProfile.defaultActiveStates ?? [],
    terminalStates: linearProfile.defaultTerminalStates ?? [],
    reviewStates: [],
    states: { todo: null, inProgress: null, review: null, blocked: null, done: null },
    comments: false,
    requiredLabels: [],
    trustedAuthors: [],
    provider: {
      endpoint: linear.url,
      api_key: new Secret(linear.apiKey),
      project_slug: 'baton',
      assignee: null,
    },
    secretEnvironment: [],
  };
}

async function until(isSo: () => boolean, found: () => string): Promise<void> {
  const deadline = performance.now() + patienceMs;
  while (!isSo()) {
    if (performance.now() > deadline) throw new Error(`it took too long: ${found()}`);
    await sleep(systemClock, 20);
  }
}
