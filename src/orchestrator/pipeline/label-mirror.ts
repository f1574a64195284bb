import { isDeepStrictEqual } from 'node:util';
import { toBatonError } from '../../core/baton-error.ts';
import type { Issue } from '../../core/issue/issue.ts';
import { type PhaseRecord, readyPhase } from '../../core/pipeline/phase.ts';
import {
  compareLabels,
  type LabelChange,
  type LabelFinding,
  labelsOf,
  writtenLabels,
} from '../../core/pipeline/phase-labels.ts';
import { failureDelayMs } from '../../core/run/backoff.ts';
import type { IssueKey } from '../../store/issue-key.ts';
import type { StoreTables } from '../../store/store.ts';
import type { BaseParts } from '../parts.ts';
import type { Candidates } from '../poll/candidates.ts';
import type { TrackerReads } from '../poll/tracker-reads.ts';
import { type MovePhaseParts, movePhase } from './move-phase.ts';

export interface LabelMirrorParts
  extends MovePhaseParts,
    Pick<BaseParts, 'chance' | 'isShared' | 'own' | 'owner' | 'stopping' | 'trackerFor'> {
  readonly candidates: Candidates;
  readonly reads: TrackerReads;
}

/** The longest time for which a label that the tracker refused is not tried again. */
const longestRefusalMs = 10 * 60_000;
/** A tracker on this machine has its clock. If that is this far behind the time of a write, it was set back since. */
const setBackMs = 5 * 60_000;
/** How long another daemon may take to write labels. Until then no other one compares or writes them. */
const longestWriteMs = 60_000;
const caller = { job: 'phase_labels', cause: 'poll' } as const;

/**
 * Keeps the labels of the pipeline in the tracker as the store says, and takes a label that a person changed as a command.
 * What must hold:
 *
 * - An issue gets its first label with its first run, never before.
 * - A change counts as a person's only if it was read after Baton's own last write arrived, whichever daemon wrote it. What
 *   is about to be written is noted first: a label that Baton may have written is no one else's.
 * - A tracker that cannot write labels, or refuses one, changes nothing in the pipeline. A label that the tracker does not
 *   have is left out; from time to time one issue tries it again.
 */
export class LabelMirror {
  readonly #parts: LabelMirrorParts;
  readonly #writing = new Set<string>();
  readonly #refused = new Map<string, { readonly times: number; readonly until: number }>();
  /** Labels that the tracker does not have, and when one is tried again. */
  readonly #absent = new Map<string, number>();
  /** Missing labels that were logged. */
  readonly #reported = new Set<string>();
  /** On a shared store: the phase of the last run here of each issue, or the phase in the last comparison. */
  readonly #phaseSeen = new Map<string, string>();
  /** While this is unchanged, so are the labels and the phases: a board of ten thousand issues is not compared in each tick. */
  #checked: string | null = null;

  constructor(parts: LabelMirrorParts) {
    this.#parts = parts;
    // A run here may begin and fail between two comparisons: its wait belongs to the phase that it worked on.
    parts.claims.onChange(({ issueId, after, by }) => {
      if (by === 'begin' && after?.status === 'running' && after.role !== 'judge')
        this.#phaseSeen.set(issueId, after.phase ?? readyPhase);
    });
  }

  /** The step `safety` of a tick: compares the labels of the issues that the last poll found. */
  async check(): Promise<void> {
    const { candidates, isShared, phases, source, stopping, trackerFor } = this.#parts;
    const { revision, settings } = source.read().workflow;
    const issues = candidates.withReviews ?? [];
    if (!phases.isOn || issues.length === 0) return;
    // On a shared store another daemon may have moved any issue.
    if (!isShared && this.#checked === this.#key(revision)) return;
    await phases.know(issues.map(({ id }) => id));
    const key = this.#key(revision);
    if (this.#checked === key) return;
    const { changes } = trackerFor(settings);
    let isAllCurrent = true;
    for (const issue of issues) {
      const record = phases.record(issue.id);
      if (stopping.aborted) return;
      if (record === null) continue;
      this.#stopIfMoved(issue.id, record);
      await this.#hastenIfMoved(issue.id, record);
      if (changes === null) continue;
      if (this.#isCurrent(issue, record)) await this.#checkOne(issue, record);
      else isAllCurrent = false;
    }
    // What waits to be written, or was refused, is looked at again.
    const isQuiet = isAllCurrent && this.#writing.size === 0 && this.#refused.size === 0;
    this.#checked = isQuiet && this.#key(revision) === key ? key : null;
  }

  /** What the comparison depends on. */
  #key(workflow: string): string {
    const { candidates, clock, phases } = this.#parts;
    const now = clock.monotonic();
    const absent = [...this.#absent].map(([label, until]) => [label, until <= now]);
    return JSON.stringify([workflow, candidates.revision, phases.facts(), absent]);
  }

  /** The labels that this issue does without. One that is due to be tried again is tried with this issue. */
  #absentFor(record: PhaseRecord): ReadonlySet<string> {
    if (this.#absent.size === 0) return new Set();
    const now = this.#parts.clock.monotonic();
    const tried = labelsOf(record).filter((label) => (this.#absent.get(label) ?? now + 1) <= now);
    for (const label of tried) this.#absent.set(label, now + longestRefusalMs);
    return new Set([...this.#absent.keys()].filter((label) => !tried.includes(label)));
  }

  /** Another daemon took the label of a person as a command: the run here works on something else. */
  #stopIfMoved(issueId: string, { phase }: PhaseRecord): void {
    const { claims, stopRun } = this.#parts;
    const running = claims.running.get(issueId);
    if (running === undefined || running.role === 'judge' || claims.isChanging(issueId)) return;
    if (phase !== (running.phase ?? readyPhase)) stopRun(running, 'phase_moved');
  }

  /** Another daemon moved the issue to another phase: a retry here after a failure waits no longer. */
  async #hastenIfMoved(issueId: string, { phase }: PhaseRecord): Promise<void> {
    const { claims, isShared } = this.#parts;
    if (!isShared) return;
    const before = this.#phaseSeen.get(issueId);
    this.#phaseSeen.set(issueId, phase);
    if (before === undefined || before === phase || claims.retrying.get(issueId)?.kind !== 'failure') return;
    await claims.retryInPhase(issueId);
  }

  /** The step `revision_expiry` of a tick: removes the mark of revisions that have been open for too long. */
  async expire(): Promise<void> {
    const { clock, logger, phases, project, source, store } = this.#parts;
    const { pipeline } = source.read().workflow.settings;
    if (!phases.isOn || pipeline.revisionExpiryMs <= 0) return;
    const now = clock.now();
    const before = now - pipeline.revisionExpiryMs;
    for (const issueId of await store.phases.inRevision(project, before)) {
      if (!(await store.phases.expireRevision({ project, issueId }, before))) continue;
      phases.forget(issueId);
      logger.info('phase_revision_expired', { issue_id: issueId });
    }
  }

  #isCurrent({ id, updatedAt }: Issue, { mirroredAt, mirroring }: PhaseRecord): boolean {
    const { clock, claims, owner, source, trackerFor } = this.#parts;
    if (this.#writing.has(id) || claims.isChanging(id)) return false;
    const isOthers = mirroring !== null && mirroring.by !== owner;
    if (isOthers && Math.abs(clock.now() - mirroring.at) < longestWriteMs) return false;
    if ((this.#refused.get(id)?.until ?? 0) > clock.monotonic()) return false;
    if (updatedAt === null || mirroredAt === null || updatedAt >= mirroredAt) return true;
    const isLocal = trackerFor(source.read().workflow.settings).isLocal === true;
    return isLocal && mirroredAt > clock.now() + setBackMs;
  }

  async #checkOne(issue: Issue, record: PhaseRecord): Promise<void> {
    const { clock, logger, own, source } = this.#parts;
    const { pipeline } = source.read().workflow.settings;
    const absent = this.#absentFor(record);
    const found = compareLabels(issue.labels, record, pipeline, absent);
    const person = { kind: 'person', name: 'a label' } as const;
    switch (found.kind) {
      case 'same': {
        const labels = labelsOf(record, absent);
        if (record.mirroring === null && isDeepStrictEqual(record.mirrored, labels)) return;
        await this.#ifStill(issue, record, ({ phases }, key) => phases.setMirrored(key, labels, issue.updatedAt));
        return;
      }
      case 'moved':
        return movePhase(this.#parts, issue, found.phase, person, {
          record,
          labels: issue.labels,
          at: issue.updatedAt,
          commandId: this.#parts.chance.id(),
        });
      case 'revision': {
        const revisionSince = found.wanted ? clock.now() : null;
        const isDone = await this.#ifStill(issue, record, ({ phases }, key) =>
          phases.put(key, { ...record, revisionSince }),
        );
        if (isDone) logger.info('phase_revision_by_label', { ...named(issue), wanted: found.wanted });
        return;
      }
      case 'write':
        this.#writing.add(issue.id);
        own('labels', this.#write(issue, record, found));
    }
  }

  async #write(
    issue: Issue,
    record: PhaseRecord,
    { change, damage }: Extract<LabelFinding, { kind: 'write' }>,
  ): Promise<void> {
    const { clock, chance, logger, owner, project, reads, stopping, store } = this.#parts;
    const labels = [...new Set([...labelsOf(record), ...(record.mirroring?.labels ?? [])])];
    const write = { labels, by: owner, at: clock.now() };
    try {
      if (!(await this.#ifStill(issue, record, ({ phases }, key) => phases.setMirroring(key, write)))) return;
      if (damage.length > 0) logger.warn('phase_labels_repaired', { ...named(issue), damage });
      const after = await this.#changeLabels(issue, change);
      const written = writtenLabels(record, after.labels, new Set(this.#absent.keys()));
      await store.phases.setMirrored({ project, issueId: issue.id }, written, after.updatedAt, write);
      this.#refused.delete(issue.id);
      reads.forget(issue.id);
      this.#parts.candidates.replace(after);
    } catch (thrown) {
      const error = toBatonError(thrown);
      if (stopping.aborted) return;
      const times = (this.#refused.get(issue.id)?.times ?? 0) + 1;
      const until = clock.monotonic() + failureDelayMs(times, longestRefusalMs, chance.next());
      this.#refused.set(issue.id, { times, until });
      logger.warn('phase_labels_not_written', { ...named(issue), labels, error });
    } finally {
      this.#writing.delete(issue.id);
      this.#parts.phases.forget(issue.id);
    }
  }

  /** Without the labels that the tracker does not have, if it refuses them. A refusal writes nothing. */
  async #changeLabels(issue: Issue, { add, remove }: LabelChange): Promise<Issue> {
    const { source, stopping, trackerFor } = this.#parts;
    const { changes } = trackerFor(source.read().workflow.settings);
    if (changes === null) return issue;
    const ask = { signal: stopping, caller };
    const write = (change: LabelChange): Promise<Issue> =>
      changes.changeLabels(issue.id, change, { kind: 'orchestrator' }, ask);
    try {
      const after = await write({ add, remove });
      for (const label of add) this.#absent.delete(label);
      return after;
    } catch (thrown) {
      const missing = this.#noteMissing(thrown);
      if (missing.length === 0) throw thrown;
      const others = add.filter((label) => !missing.includes(label));
      return others.length + remove.length === 0 ? issue : await write({ add: others, remove });
    }
  }

  /** Notes the labels that the tracker does not have, and logs each once; none for any other error. */
  #noteMissing(thrown: unknown): readonly string[] {
    const { clock, logger } = this.#parts;
    const error = toBatonError(thrown);
    if (error.code !== 'tracker_label_unknown' || !Array.isArray(error.details.labels)) return [];
    const missing = error.details.labels.map(String);
    for (const label of missing) {
      this.#absent.set(label, clock.monotonic() + longestRefusalMs);
      if (!this.#reported.has(label)) logger.warn('phase_label_missing', { label, error });
      this.#reported.add(label);
    }
    return missing;
  }

  /** Changes the record if it is still the one that the labels were compared with. */
  async #ifStill(
    { id }: Issue,
    record: PhaseRecord,
    change: (tables: StoreTables, key: IssueKey) => Promise<void>,
  ): Promise<boolean> {
    const { phases, project, store } = this.#parts;
    const key = { project, issueId: id };
    const isStill = await store.transaction(async (tables) => {
      if (!isDeepStrictEqual(await tables.phases.lock(key), record)) return false;
      await change(tables, key);
      return true;
    });
    phases.forget(id);
    return isStill;
  }
}

function named({ id, identifier }: Issue): Record<string, unknown> {
  return { issue_id: id, issue_identifier: identifier };
}
