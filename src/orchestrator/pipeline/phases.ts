import { isDeepStrictEqual } from 'node:util';
import type { SkipReason } from '../../core/dispatch/eligibility.ts';
import type { Issue } from '../../core/issue/issue.ts';
import { hasPipeline, type PhaseRecord, type PipelineSettings } from '../../core/pipeline/phase.ts';
import type { PhaseStanding } from '../../core/pipeline/phase-standing.ts';
import { agentOfPhase, type OpenCompletion, type PhaseWork, phaseWork } from '../../core/pipeline/phase-work.ts';
import type { Role } from '../../core/run/role.ts';
import type { Settings } from '../../core/settings.ts';
import { isTaskId } from '../../core/task/task.ts';
import type { BaseParts } from '../parts.ts';
import { Plans } from '../planner/plans.ts';

export type PhasesParts = Pick<BaseParts, 'notify' | 'project' | 'source' | 'store'>;

interface Known {
  /** Null: the issue never entered the pipeline. */
  readonly record: PhaseRecord | null;
  readonly open: OpenCompletion | null;
}

/**
 * Where issues stand in the pipeline, as last read. The store has the truth, and the start of a run compares with it. What
 * is known of an issue is forgotten with each change of its claim, so that the next decision reads it again.
 */
export class Phases {
  /** An issue that is planned, or was split, is in no phase. */
  readonly plans: Plans;
  readonly #parts: PhasesParts;
  readonly #known = new Map<string, Known>();
  /** Known, but to be read again before it counts. */
  readonly #old = new Set<string>();
  /** How far the store was read for changes of other daemons, and the writes that were read after that; null: not at all. */
  #mark: number | null = null;
  readonly #seen = new Map<string, number>();
  /** Grows with every change of what is known. */
  #revision = 0;
  /** Grows with every change in the store that this daemon knows of. */
  #changes = 0;

  constructor(parts: PhasesParts) {
    this.#parts = parts;
    this.plans = new Plans(parts);
  }

  get isOn(): boolean {
    return hasPipeline(this.#settings());
  }

  /** Reads what is not known of these issues; nothing without a pipeline. */
  async know(issueIds: readonly string[]): Promise<void> {
    await this.plans.know(issueIds.filter((id) => !isTaskId(id)));
    const missing = this.isOn
      ? issueIds.filter((id) => !isTaskId(id) && (!this.#known.has(id) || this.#old.has(id)))
      : [];
    if (missing.length === 0) return;
    const { store, project } = this.#parts;
    const before = this.#changes;
    const records = await store.phases.readAll(project, missing);
    const open = await store.completionClaims.allOpen(project);
    // A change during the reads: what was read may be older than it.
    if (this.#changes !== before) return this.know(issueIds);
    let hasChanged = false;
    for (const id of missing) {
      const found = open.get(id);
      const isOpen = found !== undefined && (found.state === 'pending' || found.state === 'judging');
      const known = {
        record: records.get(id) ?? null,
        open: isOpen ? { id: found.id, phase: found.phase, state: found.state as OpenCompletion['state'] } : null,
      };
      this.#old.delete(id);
      hasChanged ||= !isDeepStrictEqual(this.#known.get(id), known);
      this.#known.set(id, known);
    }
    if (!hasChanged) return;
    this.#revision += 1;
    // Rows show the phase, and were published without it.
    this.#parts.notify();
  }

  /** Where each issue stands that is in the pipeline, as far as it is read. */
  standings(): ReadonlyMap<string, PhaseStanding> {
    const found = [...this.#known].flatMap(([id, { record, open }]) =>
      record === null ? [] : [[id, { record, open }] as const],
    );
    return new Map(this.isOn ? found : []);
  }

  /** Null: not in the pipeline, or not read. */
  record(issueId: string): PhaseRecord | null {
    return this.#known.get(issueId)?.record ?? null;
  }

  /** What the next run of an issue is for. */
  workOf(issue: Pick<Issue, 'id' | 'labels'>): PhaseWork | null {
    if (isTaskId(issue.id)) return { role: 'worker', phase: null };
    const planned = this.plans.workOf(issue);
    if (planned === undefined) return null;
    if (planned === 'planner') return { role: 'planner', phase: null };
    if (planned === 'parent' || !this.isOn) return { role: 'worker', phase: null };
    const known = this.#known.get(issue.id);
    return known === undefined ? null : phaseWork(issue, known.record, known.open, this.#settings());
  }

  /** Why the pipeline lets no run of an issue start; null: one may. */
  whyNot(issue: Pick<Issue, 'id' | 'labels'>): SkipReason | null {
    const planned = this.plans.whyNot(issue);
    if (planned !== null) return planned;
    const work = this.workOf(issue);
    if (work === null) return { code: 'not_read', text: 'its phase is being read' };
    if (work.role !== null) return null;
    if (work.why === 'claim_pending')
      return { code: 'phase_pending', text: `Baton is deciding what follows its phase "${work.phase}"` };
    return { code: 'phase_unknown', text: `its phase "${work.phase}" is not in pipeline.phases` };
  }

  /** The role of the next run of an issue that is not in review. */
  roleOf(issue: Issue): Role {
    return this.workOf(issue)?.role ?? (this.isOn ? 'phase' : 'worker');
  }

  /** The agent that the pipeline gives to the next run; null: the rules for the issue choose. */
  agentOf(issue: Issue, { pipeline, judge, planner }: Pick<Settings, 'pipeline' | 'judge' | 'planner'>): string | null {
    const work = this.workOf(issue);
    if (work?.role === 'planner') return planner.agent;
    return work === null || work.role === null ? null : agentOfPhase(work, pipeline, judge.agents);
  }

  forget(issueId: string): void {
    this.plans.forget(issueId);
    this.#changes += 1;
    this.#old.delete(issueId);
    if (this.#known.delete(issueId)) this.#revision += 1;
  }

  /** Any of them may have changed: the next decision reads all, and nothing follows if they are the same. */
  readAgain(): void {
    this.plans.readAgain();
    this.#mark = null;
    this.#seen.clear();
    for (const id of this.#known.keys()) this.#old.add(id);
  }

  /**
   * Another daemon may have changed some: the next decision reads those that were written since the last call, and those whose
   * completion claim is another one. One query, however many are known.
   */
  async readChanges(open: ReadonlyMap<string, Pick<OpenCompletion, 'id'> & { readonly state: string }>): Promise<void> {
    const { store, project } = this.#parts;
    this.plans.readAgain();
    const isFirst = this.#mark === null;
    const { mark, written } = await store.phases.changes(project, this.#mark);
    this.#mark = mark;
    for (const [id, known] of this.#known) {
      const found = open.get(id);
      if (isFirst || found?.id !== known.open?.id || found?.state !== known.open?.state) this.#old.add(id);
    }
    for (const [id, at] of written) {
      if (this.#seen.get(id) === at) continue;
      this.#seen.set(id, at);
      if (this.#known.has(id)) this.#old.add(id);
    }
    for (const id of this.#seen.keys()) if (!written.has(id)) this.#seen.delete(id);
  }

  /** Everything that the work of an issue depends on, as JSON data. */
  facts(): unknown {
    return [this.#revision, this.plans.facts()];
  }

  #settings(): PipelineSettings {
    return this.#parts.source.read().workflow.settings.pipeline;
  }
}
