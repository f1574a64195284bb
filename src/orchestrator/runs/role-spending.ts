import type { SkipReason } from '../../core/dispatch/eligibility.ts';
import { type Role, roleOf } from '../../core/run/role.ts';
import {
  budgetedRoles,
  budgetOf,
  dayStart,
  type RoleRun,
  type RoleSpent,
  roleSpent,
  whyRoleBudget,
} from '../../core/run/role-budget.ts';
import type { Settings } from '../../core/settings.ts';
import type { StoreTables } from '../../store/store.ts';
import type { RunRecord } from '../../store/tables/runs.ts';
import type { Running } from '../claims/claim.ts';
import type { Claims } from '../claims/claims.ts';
import type { BaseParts } from '../parts.ts';

export interface RoleSpendingParts extends Pick<BaseParts, 'clock' | 'project' | 'source' | 'store'> {
  readonly claims: Claims;
}

/**
 * What the roles with a budget have used today, over all daemons of the store: the runs of the last reading, those that
 * ended here since, and those in progress here. Each is counted once, by its id. The start of a run decides by the store
 * itself (`whyRoleBudgetIn`); this is for the decisions before it and for people.
 */
export class RoleSpending {
  readonly #parts: RoleSpendingParts;
  #runs = new Map<string, RoleRun>();

  constructor(parts: RoleSpendingParts) {
    this.#parts = parts;
    parts.claims.onChange(({ before, after, by }) => {
      if (before?.status !== 'running' || after === before || by !== 'settle') return;
      const budget = budgetOf(before.role, parts.source.read().workflow.settings);
      if (budget !== null) this.#runs.set(before.runId, { ...inProgress(before), endedAt: parts.clock.now() });
    });
  }

  async read(): Promise<void> {
    const { clock, project, source, store } = this.#parts;
    const roles = budgetedRoles(source.read().workflow.settings);
    const rows = roles.length === 0 ? [] : await store.runs.ofRoles(project, roles, dayStart(clock.now()));
    this.#runs = new Map(rows.map((row) => [row.runId, roleRun(row)]));
  }

  of(role: Role): RoleSpent {
    const { claims, clock } = this.#parts;
    const here = [...claims.running.values()].map((running) => [running.runId, inProgress(running)] as const);
    return roleSpent(role, new Map([...this.#runs, ...here]).values(), clock.now());
  }

  /** Why no further run of the role may start today, as far as this daemon knows. */
  whyNone(role: Role): SkipReason | null {
    const { settings } = this.#parts.source.read().workflow;
    const budget = budgetOf(role, settings);
    return budget === null ? null : whyRoleBudget(role, this.of(role), budget);
  }
}

/** The same by the store, in the transaction that begins the run: two daemons never use the last run of a budget twice. */
export async function whyRoleBudgetIn(
  { runs }: Pick<StoreTables, 'runs'>,
  role: Role,
  settings: Settings,
  { project, now }: { readonly project: string; readonly now: number },
): Promise<SkipReason | null> {
  const budget = budgetOf(role, settings);
  return budget === null ? null : whyRoleBudget(role, await roleSpentIn({ runs }, role, { project, now }), budget);
}

/** What a role has used today, by the store. */
export async function roleSpentIn(
  { runs }: Pick<StoreTables, 'runs'>,
  role: Role,
  { project, now }: { readonly project: string; readonly now: number },
): Promise<RoleSpent> {
  const rows = await runs.ofRoles(project, [role], dayStart(now));
  return roleSpent(role, rows.map(roleRun), now);
}

function roleRun({ runId, role, costMicroUsd, totalTokens, finish }: RunRecord): RoleRun {
  const hasWorked = totalTokens > 0 || finish?.outcome === 'succeeded';
  return { runId, role: roleOf(role), microUsd: costMicroUsd, hasWorked, endedAt: finish?.endedAt ?? null };
}

function inProgress({ runId, role, usage }: Running): RoleRun {
  return { runId, role, microUsd: usage.costMicroUsd, hasWorked: usage.totalTokens > 0, endedAt: null };
}
