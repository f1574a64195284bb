import type { CommandAnswer } from '../../core/command/command-answers.ts';
import { type ScanFacts, scansToRead, whyNoScan } from '../../core/task/scan.ts';
import { nextTaskId, type Task } from '../../core/task/task.ts';
import type { Command } from '../../store/tables/commands.ts';
import type { BaseParts } from '../parts.ts';
import type { TrackerReads } from '../poll/tracker-reads.ts';
import { addTask, beginOwnTask, budgetNow, isReady, type OwnTaskParts } from './own-tasks.ts';
import { allOpenIssues } from './task-runs.ts';

export interface ScanParts extends OwnTaskParts, Pick<BaseParts, 'trackerFor'> {
  readonly reads: TrackerReads;
}

const caller = { job: 'scanner', cause: 'sweep' } as const;

/**
 * The job `scanner`: begins a scan if one is due (`core/task/scan.ts`). It reads nothing while it is switched off. Where
 * anything cannot be read it rejects, and nothing begins.
 */
export async function scanIfDue(parts: ScanParts): Promise<void> {
  const { clock, logger, source } = parts;
  const { settings } = source.read().workflow;
  if (!settings.scanner.enabled) return;
  const tasks = await latestScans(parts);
  const { budget } = await budgetNow(parts, 'scanner');
  const facts: ScanFacts = {
    now: clock.now(),
    tasks,
    budget,
    isReady: isReady(parts),
    isBusy: await isBusy(parts),
    open: await allOpenIssues(parts, caller),
  };
  const why = whyNoScan(settings, facts);
  if (why !== null) return logger.debug('scan_not_due', { why });
  const task = await addTask(parts, nextScan(parts, tasks), { kind: 'orchestrator' });
  logger.info('scan_begun', { task });
}

/** A person asks for a scan now. It is within the budget too. */
export async function beginScan(parts: ScanParts, { author }: Command): Promise<CommandAnswer> {
  const tasks = await latestScans(parts);
  return beginOwnTask(parts, {
    role: 'scanner',
    tasks,
    author,
    draft: () => nextScan(parts, tasks),
    does: 'An agent will look for improvements.',
    show: 'baton scan show',
  });
}

function latestScans({ project, store }: ScanParts): Promise<readonly Task[]> {
  return store.tasks.list(project, { kind: 'scan', limit: scansToRead });
}

function nextScan({ clock }: ScanParts, scans: readonly Task[]) {
  const id = nextTaskId('scan', scans, clock.now());
  return { id, kind: 'scan', title: 'Scan for improvements', text: '' } as const;
}

async function isBusy({ claims, project, store }: ScanParts): Promise<boolean> {
  const { running, retrying, held, elsewhere } = claims;
  if (running.size + retrying.size + held.size + elsewhere.length > 0) return true;
  const waiting = await store.tasks.list(project, { statuses: ['waiting'], limit: 1 });
  return waiting.length > 0;
}
