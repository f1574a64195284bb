import { type JobName, jobCatalogue } from '../core/job-catalogue.ts';
import type { OrchestratorContext } from './context.ts';
import { lookAfterRuns, lookForLostAgents } from './custody.ts';
import type { Job } from './job.ts';
import { maintainStore, pruneSalvage } from './maintenance.ts';
import { pollIntervalMs, pollNotBefore, pressureNow, trackerNow } from './pace.ts';
import { poll } from './poll.ts';
import { lookAtQueue } from './queue-health.ts';
import { everything, sweepWorkspaces } from './sweep-workspaces.ts';
import { rollUpUsage } from './usage-rollup.ts';

/** Every recurring concern of the orchestrator; core/job-catalogue.ts names them, docs/cadence.md explains them. */
export function recurringJobs(context: OrchestratorContext): readonly Job[] {
  const { state } = context;
  const remoteUnlessHere = (): 'local' | 'remote' => (trackerNow(context)?.isLocal === true ? 'local' : 'remote');
  const job = (name: Exclude<JobName, 'tracker_poll'>, run: Job['run'], rest: Partial<Job> = {}): Job => ({
    name,
    kind: () => jobCatalogue[name].kind,
    intervalMs: () =>
      context.source.read().workflow.settings.polling.jobIntervalsMs[name] ?? jobCatalogue[name].intervalMs,
    scope: 'daemon',
    atStart: 'when_due',
    run,
    ...rest,
  });
  return [
    job('finished_agents', () => lookForLostAgents(context)),
    job('stall_look', () => lookAfterRuns(context)),
    {
      name: 'tracker_poll',
      kind: remoteUnlessHere,
      intervalMs: () => pollIntervalMs(context),
      notBefore: () => pollNotBefore(context),
      scope: 'daemon',
      atStart: 'at_once',
      run: async () => {
        state.pollErrors = await poll(context);
        const [first] = state.pollErrors;
        if (first !== undefined) throw first.error;
      },
    },
    job('workspace_sweep', () => sweep(context), { kind: remoteUnlessHere }),
    job('salvage_pruning', () => pruneSalvage(context)),
    job('store_maintenance', () => maintainStore(context), { scope: 'store' }),
    job('usage_rollup', async () => {
      await rollUpUsage(context);
      await context.refreshRequests();
    }),
    job('queue_health', async () => {
      state.findings = await lookAtQueue(context);
    }),
  ];
}

/** What could be tidied up waits while requests are short. */
async function sweep(context: OrchestratorContext): Promise<void> {
  const { step } = pressureNow(context);
  if (step === 'free' || step === 'warned') await sweepWorkspaces(context, everything);
}
