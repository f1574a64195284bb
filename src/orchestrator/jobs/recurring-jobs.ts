import { type JobName, jobCatalogue } from '../../core/cadence/job-catalogue.ts';
import { type PaceParts, pollIntervalMs, pollNotBefore, pressureNow, trackerNow } from '../poll/pace.ts';
import { type PollError, type PollParts, poll } from '../poll/poll.ts';
import type { PullWatch } from '../review/watch-pulls.ts';
import { rollUpUsage, type UsageRollupParts } from '../runs/usage-rollup.ts';
import { checkRuns, findLostAgents, type WatchRunsParts } from '../runs/watch-runs.ts';
import { learn } from '../tasks/learner.ts';
import type { OpenProposals } from '../tasks/open-proposals.ts';
import { type ScanParts, scanIfDue } from '../tasks/scanner.ts';
import { everything, type WorkspaceSweep } from '../workspaces/sweep-workspaces.ts';
import type { Job } from './job.ts';
import type { Pruning } from './pruning.ts';
import type { QueueHealth } from './queue-health.ts';

export interface JobParts extends PollParts, PaceParts, WatchRunsParts, UsageRollupParts, ScanParts {
  readonly sweep: WorkspaceSweep;
  readonly pruning: Pruning;
  readonly proposals: OpenProposals;
  readonly queueHealth: QueueHealth;
  readonly pullWatch: PullWatch;
  readonly refreshRequests: () => Promise<void>;
  readonly onPollErrors: (errors: readonly PollError[]) => void;
}

/** All recurring jobs of the orchestrator; core/cadence/job-catalogue.ts names them, docs/cadence.md explains them. */
export function recurringJobs(parts: JobParts): readonly Job[] {
  const remoteUnlessHere = (): 'local' | 'remote' => (trackerNow(parts)?.isLocal === true ? 'local' : 'remote');
  const job = (name: Exclude<JobName, 'tracker_poll'>, run: Job['run'], rest: Partial<Job> = {}): Job => ({
    name,
    kind: () => jobCatalogue[name].kind,
    intervalMs: () =>
      parts.source.read().workflow.settings.polling.jobIntervalsMs[name] ?? jobCatalogue[name].intervalMs,
    scope: 'daemon',
    atStart: 'when_due',
    run,
    ...rest,
  });
  return [
    job('finished_agents', () => findLostAgents(parts)),
    job('stall_check', () => checkRuns(parts)),
    {
      name: 'tracker_poll',
      kind: remoteUnlessHere,
      intervalMs: () => pollIntervalMs(parts),
      notBefore: () => pollNotBefore(parts),
      scope: 'daemon',
      atStart: 'at_once',
      run: async () => {
        const errors = await poll(parts);
        parts.onPollErrors(errors);
        const [first] = errors;
        if (first !== undefined) throw first.error;
      },
    },
    job('pull_requests', () => parts.pullWatch.run()),
    job('workspace_sweep', () => sweep(parts), { kind: remoteUnlessHere }),
    job('pruning', () => parts.pruning.pruneFiles(), { kind: remoteUnlessHere }),
    job('store_maintenance', () => parts.pruning.maintainStore(), { scope: 'store' }),
    job('usage_rollup', async () => {
      await rollUpUsage(parts);
      await parts.proposals.read();
      await parts.refreshRequests();
    }),
    job('queue_health', async () => {
      await parts.queueHealth.check();
    }),
    job('scanner', () => scanIfDue(parts), { scope: 'store' }),
    job('learning', () => learn(parts), { scope: 'store' }),
  ];
}

/** Cleanup waits while few requests are left. */
async function sweep(parts: JobParts): Promise<void> {
  const { step } = pressureNow(parts);
  if (step === 'free' || step === 'warned') await parts.sweep.run(everything);
}
