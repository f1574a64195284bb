import { type CommandAnswer, done, refused } from '../../core/command/command-answers.ts';
import type { Author } from '../../core/issue/author.ts';
import { budgetOf, type RoleBudget, type RoleSpent, whyRoleBudget } from '../../core/run/role-budget.ts';
import { isUndecided, nextScanId, type ScanFacts, scansToRead, whyNoScan, whyNoScanNow } from '../../core/task/scan.ts';
import type { Task } from '../../core/task/task.ts';
import { countText, usdText } from '../../core/text/amount-text.ts';
import type { Command } from '../../store/tables/commands.ts';
import type { Claims } from '../claims/claims.ts';
import type { Pause } from '../commands/pause.ts';
import type { BaseParts, Trial } from '../parts.ts';
import type { TrackerReads } from '../poll/tracker-reads.ts';
import { whyDayLimit } from '../runs/check-limits.ts';
import { roleSpentIn } from '../runs/role-spending.ts';
import type { Spending } from '../runs/spending.ts';
import { type OfferParts, offerTask } from './offer-task.ts';
import { allOpenIssues } from './task-runs.ts';

export interface ScanParts extends OfferParts, Pick<BaseParts, 'logger' | 'trackerFor'> {
  readonly claims: Claims;
  readonly pause: Pause;
  readonly reads: TrackerReads;
  readonly spending: Spending;
  readonly trial: Trial | null;
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
  const scans = await latestScans(parts);
  const { budget } = await budgetNow(parts);
  const facts: ScanFacts = {
    ...{ now: clock.now(), scans, budget, isReady: isReady(parts), isBusy: await isBusy(parts) },
    open: await allOpenIssues(parts, caller),
  };
  const why = whyNoScan(settings, facts);
  if (why !== null) return logger.debug('scan_not_due', { why });
  const task = await addScan(parts, scans, { kind: 'orchestrator' });
  logger.info('scan_begun', { task });
}

/** A person asks for a scan now. It is within the budget too. */
export async function beginScan(parts: ScanParts, { author }: Command): Promise<CommandAnswer> {
  const scans = await latestScans(parts);
  const { budget, limits, spent } = await budgetNow(parts);
  const open = scans.find(isUndecided);
  const show = (task: string): string => `To see what it proposes: baton scan show ${task}`;
  // The same command after a crash finds the scan that it began.
  if (open?.status === 'waiting')
    return done('task_waits', `A scan waits for its agent already. ${show(open.id)}`, { task: open.id });
  const why = whyNoScanNow(parts.source.read().workflow.settings.scanner, { budget, scans });
  if (why === 'undecided' && open !== undefined)
    return refused('scan_undecided', `Decide about the last scan first: baton scan show ${open.id}`, { task: open.id });
  const used = limits === null ? '' : usedText(limits, spent);
  if (why === 'budget_used') return refused('scan_budget', `The budget of the scanner is used up for today: ${used}.`);
  if (why !== null)
    return refused(
      'scanner_off',
      why === 'off'
        ? 'The scanner is switched off. Set scanner.enabled in the workflow file.'
        : 'The scanner has no limit. Set scanner.runs_per_day or scanner.usd_per_day in the workflow file.',
    );
  const task = await addScan(parts, scans, author);
  const cost = `It costs one run; used today before it: ${used}.`;
  return done('task_waits', `An agent will look for improvements. ${cost} ${show(task)}`, { task });
}

function latestScans({ project, store }: ScanParts): Promise<readonly Task[]> {
  return store.tasks.list(project, { kind: 'scan', limit: scansToRead });
}

async function addScan(parts: ScanParts, scans: readonly Task[], author: Author): Promise<string> {
  const { clock, project, store } = parts;
  const [id, createdAt] = [nextScanId(scans, clock.now()), clock.now()];
  await store.tasks.add(project, { id, kind: 'scan', title: 'Scan for improvements', text: '', author, createdAt });
  await offerTask(parts, id);
  return id;
}

interface BudgetNow {
  readonly budget: ScanFacts['budget'];
  readonly limits: RoleBudget | null;
  readonly spent: RoleSpent;
}

/** By the store, so that the runs of all daemons count. */
async function budgetNow({ clock, project, source, store }: ScanParts): Promise<BudgetNow> {
  const limits = budgetOf('scanner', source.read().workflow.settings);
  const spent = await roleSpentIn(store, 'scanner', { project, now: clock.now() });
  if (limits === null) return { budget: 'none', limits, spent };
  return { budget: whyRoleBudget('scanner', spent, limits) === null ? 'free' : 'used', limits, spent };
}

function usedText({ runsPerDay, usdPerDay }: RoleBudget, { runs, microUsd }: RoleSpent): string {
  const parts = [
    ...(runsPerDay > 0 ? [`${countText(runs)} of ${countText(runsPerDay)} runs`] : []),
    ...(usdPerDay > 0 ? [`${usdText(microUsd / 1_000_000)} of ${usdText(usdPerDay)}`] : []),
  ];
  return parts.join(', ');
}

function isReady(parts: ScanParts): boolean {
  const { candidates, pause, source, trial } = parts;
  const isAllowed = pause.state === null && trial === null && whyDayLimit(parts) === null;
  return isAllowed && candidates.polled !== null && source.read().problem === null;
}

async function isBusy({ claims, project, store }: ScanParts): Promise<boolean> {
  const { running, retrying, held, elsewhere } = claims;
  if (running.size + retrying.size + held.size + elsewhere.length > 0) return true;
  const waiting = await store.tasks.list(project, { statuses: ['waiting'], limit: 1 });
  return waiting.length > 0;
}
