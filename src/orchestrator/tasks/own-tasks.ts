import { type CommandAnswer, done, refused } from '../../core/command/command-answers.ts';
import type { Author } from '../../core/issue/author.ts';
import { budgetOf, type RoleBudget, type RoleSpent, usedOfBudget, whyRoleBudget } from '../../core/run/role-budget.ts';
import { type OwnTaskFacts, whyNoOwnTask } from '../../core/task/own-task.ts';
import { isUndecided } from '../../core/task/proposal.ts';
import type { Task } from '../../core/task/task.ts';
import type { Claims } from '../claims/claims.ts';
import type { Pause } from '../commands/pause.ts';
import type { BaseParts, Trial } from '../parts.ts';
import { whyDayLimit } from '../runs/check-limits.ts';
import { roleSpentIn } from '../runs/role-spending.ts';
import type { Spending } from '../runs/spending.ts';
import { type OfferParts, offerTask } from './offer-task.ts';

/*
 * Tasks that Baton begins by itself, within the budget of their role: scans and runs of the learner. A person may ask for one
 * too, within the same budget.
 */

export interface OwnTaskParts extends OfferParts, Pick<BaseParts, 'logger'> {
  readonly claims: Claims;
  readonly pause: Pause;
  readonly spending: Spending;
  readonly trial: Trial | null;
}

export type OwnRole = 'scanner' | 'learner';

interface BudgetNow {
  readonly budget: OwnTaskFacts['budget'];
  readonly limits: RoleBudget | null;
  readonly spent: RoleSpent;
}

/** By the store, so that the runs of all daemons count. */
export async function budgetNow({ clock, project, source, store }: OwnTaskParts, role: OwnRole): Promise<BudgetNow> {
  const limits = budgetOf(role, source.read().workflow.settings);
  const spent = await roleSpentIn(store, role, { project, now: clock.now() });
  if (limits === null) return { budget: 'none', limits, spent };
  return { budget: whyRoleBudget(role, spent, limits) === null ? 'free' : 'used', limits, spent };
}

/** Whether Baton could start an agent: it has read its tracker, its file has no mistake, and no person or limit forbids it. */
export function isReady(parts: OwnTaskParts): boolean {
  const { candidates, pause, source, trial } = parts;
  const isAllowed = pause.state === null && trial === null && whyDayLimit(parts) === null;
  return isAllowed && candidates.polled !== null && source.read().problem === null;
}

type Draft = Pick<Task, 'id' | 'kind' | 'title' | 'text'>;

/** Adds a task and offers it to the next decision. */
export async function addTask(parts: OwnTaskParts, draft: Draft, author: Author): Promise<string> {
  const { clock, project, store } = parts;
  await store.tasks.add(project, { ...draft, author, createdAt: clock.now() });
  await offerTask(parts, draft.id);
  return draft.id;
}

interface Wish {
  readonly role: OwnRole;
  /** The latest tasks of the kind, the newest first. */
  readonly tasks: readonly Task[];
  readonly author: Author;
  /** What its agent will do, as a sentence. */
  readonly does: string;
  /** Shows a task, without its id. */
  readonly show: string;
  readonly draft: () => Draft;
}

/** A person asks for a task now. */
export async function beginOwnTask(parts: OwnTaskParts, wish: Wish): Promise<CommandAnswer> {
  const { role, tasks, author, does, draft } = wish;
  const { budget, limits, spent } = await budgetNow(parts, role);
  const open = tasks.find(isUndecided);
  const show = (task: string): string => `To see what it proposes: ${wish.show} ${task}`;
  // The same command after a crash finds the task that it began.
  if (open?.status === 'waiting')
    return done('task_waits', `Such a task already waits for its agent. ${show(open.id)}`, { task: open.id });
  const why = whyNoOwnTask(parts.source.read().workflow.settings[role], { budget, tasks });
  if (why === 'undecided' && open !== undefined)
    return refused('task_undecided', `First decide about the last proposals: ${wish.show} ${open.id}`, {
      task: open.id,
    });
  const used = limits === null ? '' : usedOfBudget(role, limits, spent);
  if (why === 'budget_used')
    return refused('role_budget_used', `The budget of the ${role} is used up for today: ${used}.`, { role });
  if (why !== null)
    return refused(
      'role_off',
      why === 'off'
        ? `The ${role} is switched off. Set ${role}.enabled in the workflow file.`
        : `The ${role} runs only with a budget. Set ${role}.runs_per_day or ${role}.usd_per_day in the workflow file.`,
      { role },
    );
  const task = await addTask(parts, draft(), author);
  const cost = `It costs one run. Used today before this run: ${used}.`;
  return done('task_waits', `${does} ${cost} ${show(task)}`, { task });
}
