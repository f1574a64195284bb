import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { LoopDelay } from '../../clock/loop-delay.ts';
import type { RunEnd } from '../../core/run/run.ts';
import type { ReadModel } from '../../orchestrator/view/read-model.ts';
import type { ApiProjects } from './api-project.ts';

/** The facts of a run that has ended. */
export interface EndedRun {
  readonly project: string;
  readonly outcome: RunEnd;
  readonly retryKind: string | null;
  readonly durationMs: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costMicroUsd: number;
}

/** A request to a remote service that has been answered. */
export interface SentRequest {
  readonly provider: string;
  readonly statusClass: string;
  readonly job: string;
  readonly latencyMs: number;
}

/**
 * The metrics for Prometheus. Gauges are read when they are scraped; counters count events since the start. They
 * contain no name of an issue or a person.
 */
export interface Metrics {
  runEnded(run: EndedRun): void;
  requestSent(request: SentRequest): void;
  text(): Promise<string>;
}

const runSeconds = [10, 30, 60, 120, 300, 600, 1_200, 1_800, 3_600, 7_200, 14_400];
const requestSeconds = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

export function createMetrics(projects: ApiProjects, delay: LoopDelay): Metrics {
  const registers = [new Registry()];
  const [registry] = registers as [Registry];
  const runs = new Counter({
    name: 'baton_runs_total',
    help: 'Runs that ended, by outcome and by why they were started.',
    registers,
    labelNames: ['project', 'outcome', 'started_for'],
  });
  const durations = new Histogram({
    name: 'baton_run_duration_seconds',
    help: 'How long runs took.',
    registers,
    buckets: runSeconds,
    labelNames: ['project', 'outcome'],
  });
  const tokens = new Counter({
    name: 'baton_tokens_total',
    help: 'Tokens of runs that ended.',
    registers,
    labelNames: ['project', 'kind'],
  });
  const cost = new Counter({
    name: 'baton_cost_usd_total',
    help: 'Cost of runs that ended, where it is known.',
    registers,
    labelNames: ['project'],
  });
  const requests = new Counter({
    name: 'baton_requests_total',
    help: 'Requests to remote services.',
    registers,
    labelNames: ['provider', 'status', 'job'],
  });
  const latencies = new Histogram({
    name: 'baton_request_duration_seconds',
    help: 'How long requests to remote services took.',
    registers,
    buckets: requestSeconds,
    labelNames: ['provider'],
  });
  for (const figure of figures) {
    const { name, help } = figure;
    const collect = function (this: Gauge | Counter): void {
      this.reset();
      for (const project of projects.list())
        for (const [labels, value] of figure.of(project.read())) this.inc({ project: project.name, ...labels }, value);
    };
    const shape = { name, help, registers, labelNames: ['project', ...(figure.labels ?? [])], collect };
    if (figure.onlyGrows) new Counter(shape);
    else new Gauge(shape);
  }
  new Gauge({
    name: 'baton_loop_delay_seconds',
    help: 'Delay of the event loop since the start.',
    registers,
    labelNames: ['quantile'],
    collect() {
      const { p50, p99, max } = delay.read();
      for (const [quantile, ms] of [
        ['0.5', p50],
        ['0.99', p99],
        ['1', max],
      ] as const)
        this.set({ quantile }, ms / 1_000);
    },
  });
  return {
    runEnded: ({ project, outcome, retryKind, durationMs, ...used }) => {
      runs.inc({ project, outcome, started_for: retryKind ?? 'dispatch' });
      durations.observe({ project, outcome }, durationMs / 1_000);
      tokens.inc({ project, kind: 'input' }, used.inputTokens);
      tokens.inc({ project, kind: 'output' }, used.outputTokens);
      cost.inc({ project }, used.costMicroUsd / 1_000_000);
    },
    requestSent: ({ provider, statusClass, job, latencyMs }) => {
      requests.inc({ provider, status: statusClass, job });
      latencies.observe({ provider }, latencyMs / 1_000);
    },
    text: () => registry.metrics(),
  };
}

type Labelled = readonly [Readonly<Record<string, string>>, number];

interface Figure {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
  /** It counts since the start. */
  readonly onlyGrows?: true;
  of(model: ReadModel): readonly Labelled[];
}

/** Values at the time of the scrape. */
const figures: readonly Figure[] = [
  { name: 'baton_slots', help: 'How many agents may run at once.', of: ({ slots }) => [[{}, slots.limit]] },
  {
    name: 'baton_judge_slots',
    help: 'How many judges may run beyond that.',
    of: ({ slots }) => [[{}, slots.judges?.limit ?? 0]],
  },
  { name: 'baton_slots_used', help: 'How many agents are running.', of: ({ slots }) => [[{}, slots.used]] },
  {
    name: 'baton_issues',
    help: 'Issues by what Baton does with them.',
    labels: ['state'],
    of: (model) => [
      [{ state: 'running' }, model.running.length],
      [{ state: 'retrying' }, model.retrying.length],
      [{ state: 'waiting_quota' }, model.waitingQuota.length],
      [{ state: 'held' }, model.held.length],
      [{ state: 'asking' }, model.questions.length],
      [{ state: 'skipped' }, model.skipped.filter(({ reason }) => reason.code !== 'claimed').length],
    ],
  },
  {
    name: 'baton_paused',
    help: '1 while Baton is paused or draining.',
    of: ({ paused }) => [[{}, paused === null ? 0 : 1]],
  },
  { name: 'baton_tokens_today', help: 'Tokens of this UTC day.', of: ({ today }) => [[{}, today.tokens]] },
  {
    name: 'baton_cost_usd_today',
    help: 'Cost of this UTC day.',
    of: ({ today }) => [[{}, today.microUsd / 1_000_000]],
  },
  {
    name: 'baton_account_waiting',
    help: '1 while an account waits for quota or a login, so that nothing starts on it.',
    labels: ['account'],
    of: ({ accounts }) =>
      accounts.map(({ backend, name, waitsFor }) => [{ account: `${backend}/${name}` }, waitsFor === null ? 0 : 1]),
  },
  {
    name: 'baton_quota_used_ratio',
    help: 'How much of a quota window is used, as the agent last reported.',
    labels: ['account', 'window'],
    of: ({ accounts }) =>
      accounts.flatMap(({ backend, name, windows }) =>
        windows.map(
          (window): Labelled => [{ account: `${backend}/${name}`, window: window.name }, window.usedPercent / 100],
        ),
      ),
  },
  { name: 'baton_ticks_total', help: 'Ticks.', onlyGrows: true, of: ({ polling }) => [[{}, polling.ticks]] },
  {
    name: 'baton_tick_step_seconds_total',
    help: 'Time spent in the steps of ticks.',
    labels: ['step'],
    onlyGrows: true,
    of: ({ stepTimes }) => [...stepTimes].map(([step, { ms }]) => [{ step }, ms / 1_000]),
  },
  {
    name: 'baton_tick_step_longest_seconds',
    help: 'The longest time that a step of a tick took.',
    labels: ['step'],
    of: ({ stepTimes }) => [...stepTimes].map(([step, { longestMs }]) => [{ step }, longestMs / 1_000]),
  },
  {
    name: 'baton_job_late_seconds',
    help: 'How late the last run of a job was.',
    labels: ['job'],
    of: ({ jobs }) => jobs.map(({ name, lateMs }) => [{ job: name }, lateMs / 1_000]),
  },
  {
    name: 'baton_job_failures',
    help: 'Failures of a job in a row.',
    labels: ['job'],
    of: ({ jobs }) => jobs.map(({ name, failures }) => [{ job: name }, failures]),
  },
  {
    name: 'baton_poll_failures',
    help: 'Failed polls of the tracker in a row.',
    of: ({ polling }) => [[{}, polling.failures]],
  },
];
