import { isDeepStrictEqual } from 'node:util';
import type { SkipReason } from '../../core/dispatch/eligibility.ts';
import type { Issue } from '../../core/issue/issue.ts';
import { type PlanFacts, type PlanWork, planWork } from '../../core/planner/plan.ts';
import type { PlannerSettings } from '../../core/settings.ts';
import { isTaskId } from '../../core/task/task.ts';
import type { BaseParts } from '../parts.ts';

export type PlansParts = Pick<BaseParts, 'notify' | 'project' | 'source' | 'store'>;

const nothing: PlanFacts = { plan: null, partOf: null };

/**
 * The plans of issues, as last read. The store has the truth. What is known of an issue is forgotten with each change of
 * its claim. Without a planner in the file nothing is read, and every issue is an ordinary one. A task never has a plan.
 */
export class Plans {
  readonly #parts: PlansParts;
  readonly #known = new Map<string, PlanFacts>();
  /** Known, but to be read again before it counts. */
  readonly #old = new Set<string>();
  /** Grows with every change of what is known. */
  #revision = 0;
  /** Grows with every change in the store that this daemon knows of. */
  #changes = 0;

  constructor(parts: PlansParts) {
    this.#parts = parts;
  }

  get isOn(): boolean {
    return this.#settings().enabled;
  }

  async know(issueIds: readonly string[]): Promise<void> {
    const missing = this.isOn ? issueIds.filter((id) => !this.#known.has(id) || this.#old.has(id)) : [];
    if (missing.length === 0) return;
    const { store, project } = this.#parts;
    const before = this.#changes;
    const found = await store.plans.facts(project, missing);
    // A change during the read: what was read may be older than it.
    if (this.#changes !== before) return this.know(issueIds);
    for (const id of missing) {
      const facts = found.get(id) ?? nothing;
      this.#old.delete(id);
      if (!isDeepStrictEqual(this.#known.get(id), facts)) this.#revision += 1;
      this.#known.set(id, facts);
    }
  }

  /** Undefined: it is not read yet. */
  workOf(issue: Pick<Issue, 'id' | 'labels'>): PlanWork | undefined {
    if (!this.#mayPlan(issue.id)) return null;
    const facts = this.#known.get(issue.id);
    return facts === undefined ? undefined : planWork(issue, facts, this.#settings());
  }

  /** Null: it has no plan, or is not read. */
  factsOf(issueId: string): PlanFacts | null {
    return this.isOn ? (this.#known.get(issueId) ?? null) : null;
  }

  /** Its plan is stored, and not all of it is in the tracker. */
  isUnfinished(issueId: string): boolean {
    const plan = this.factsOf(issueId)?.plan ?? null;
    return plan !== null && plan.madeAt === null;
  }

  /** Why no run of an issue starts yet; null: one may, as far as plans say. */
  whyNot({ id }: Pick<Issue, 'id'>): SkipReason | null {
    if (!this.#mayPlan(id)) return null;
    const facts = this.#known.get(id);
    if (facts === undefined) return { code: 'not_read', text: 'its plan is being read' };
    if (facts.partOf === null || facts.partOf.isMade) return null;
    return { code: 'plan_pending', text: 'it is part of a plan that Baton is still writing to the tracker' };
  }

  forget(issueId: string): void {
    this.#changes += 1;
    this.#old.delete(issueId);
    if (this.#known.delete(issueId)) this.#revision += 1;
  }

  /** Another daemon may have changed any of them, or the plan of a parent was made. */
  readAgain(): void {
    this.#changes += 1;
    for (const id of this.#known.keys()) this.#old.add(id);
  }

  /** Everything that the work of an issue depends on, as JSON data. */
  facts(): unknown {
    return this.#revision;
  }

  /** A task of Baton has no plan, and none is read. */
  #mayPlan(issueId: string): boolean {
    return this.isOn && !isTaskId(issueId);
  }

  #settings(): PlannerSettings {
    return this.#parts.source.read().workflow.settings.planner;
  }
}
