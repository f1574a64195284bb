import { createHash } from 'node:crypto';
import { toBatonError } from '../../core/baton-error.ts';
import { whyNotBatons, whyNotCandidate } from '../../core/dispatch/eligibility.ts';
import { type Blocker, type Issue, isInOneOf } from '../../core/issue/issue.ts';
import { areFinished, whatItWaitedFor } from '../../core/issue/waited-for.ts';
import type { Settings } from '../../core/settings.ts';
import { proposedLabel } from '../../core/task/scan.ts';
import type { Ask, Tracker } from '../../tracker/tracker.ts';
import type { GateParts } from '../dispatch/gates.ts';
import { whyNotStarted } from '../dispatch/slot-filler.ts';
import type { BaseParts } from '../parts.ts';
import type { TrackerReads } from '../poll/tracker-reads.ts';
import { askAsBaton } from './ask-as-baton.ts';
import { askTracker, moveIssue } from './move-issue.ts';

export interface StatusMovesParts
  extends GateParts,
    Pick<BaseParts, 'clock' | 'logger' | 'own' | 'project' | 'requestTick' | 'stopping' | 'store' | 'trackerFor'> {
  readonly reads: TrackerReads;
}

/** Children leave no trace in their parent: those of a remote tracker are read again after this time. */
const childrenAgainMs = 5 * 60_000;
/** Candidates for a promotion are read in pages, because labels may exclude many. */
const pageSize = 50;
const mostPages = 20;
const caller = { job: 'status_moves', cause: 'poll' } as const;
/** The counter that remembers for which finished issues an issue was unblocked. */
const unblockedFor = 'unblocked_for';

/**
 * The moves that Baton makes after a poll, without a request (seed 4, Status Transitions). What must hold:
 *
 * - `blocked → todo` when everything that the issue waited for is finished. An agent that blocks its issue again for the
 *   same finished issues has to be released by a person: otherwise the two would take turns.
 * - `backlog → todo` only with `board.auto_promote`, one issue at a time, and only if it would start now and nothing
 *   else could. Never an issue that a person moved to the backlog, and never one that a scan proposed.
 * - A tracker that people use by other means is theirs: Baton moves only issues that it may take and has had a run of.
 * - Each move names the state that it leaves, so a person who was faster wins. It never touches a claimed issue.
 */
export class StatusMoves {
  readonly #parts: StatusMovesParts;
  readonly #childrenReadAt = new Map<string, { readonly blockers: string; readonly at: number }>();
  #isWorking = false;

  constructor(parts: StatusMovesParts) {
    this.#parts = parts;
  }

  /** The states that a poll has to list for these moves. */
  static states({ tracker: { states } }: Settings): readonly string[] {
    return states.blocked === null || states.todo === null ? [] : [states.blocked];
  }

  /** A poll was answered. Only begins the moves: a poll does not wait for writes. */
  takeIn(settings: Settings, issues: readonly Issue[]): void {
    if (this.#isWorking || this.#parts.stopping.aborted) return;
    this.#isWorking = true;
    const work = async (): Promise<void> => {
      await this.#unblock(settings, issues.filter(isInOneOf(StatusMoves.states(settings))));
      await this.#promote(settings);
    };
    this.#parts.own(
      'status',
      work()
        .catch((error: unknown) => this.#failed(error))
        .finally(() => {
          this.#isWorking = false;
        }),
    );
  }

  async #unblock(settings: Settings, blocked: readonly Issue[]): Promise<void> {
    const { trackerFor, stopping } = this.#parts;
    const { tracker } = settings;
    const seam = trackerFor(settings);
    for (const id of this.#childrenReadAt.keys())
      if (!blocked.some((issue) => issue.id === id)) this.#childrenReadAt.delete(id);
    const free = blocked.filter(
      (issue) =>
        this.#isFree(issue.id) && whyNotBatons(issue, tracker) === null && areFinished(issue.blockedBy, tracker),
    );
    const ours = await this.#workedOn(seam, free);
    const due = ours.filter((issue) => this.#isDue(issue, seam));
    if (due.length === 0) return;
    const ids = due.map(({ id }) => id);
    const children = await this.#ask(async (ask) => seam.fetchChildren?.(ids, ask));
    for (const issue of due) {
      if (stopping.aborted) return;
      const parts = children?.get(issue.id) ?? [];
      const why = whatItWaitedFor(issue, parts, tracker);
      if (why === null) continue;
      await this.#leaveBlocked(settings, issue, [...issue.blockedBy, ...parts], why).catch((error: unknown) =>
        this.#failed(error, issue),
      );
    }
  }

  async #leaveBlocked(settings: Settings, issue: Issue, links: readonly Blocker[], why: string): Promise<void> {
    const { store, project, trackerFor, logger } = this.#parts;
    const { comments, states } = settings.tracker;
    const { changes, editor } = trackerFor(settings);
    const key = { project, issueId: issue.id };
    const finished = numberFor(links);
    if (changes === null || states.todo === null || !this.#isFree(issue.id)) return;
    if ((await store.counters.read(key))[unblockedFor] === finished) return;
    await this.#move(settings, issue, states.todo, why);
    await store.counters.set(key, unblockedFor, finished);
    logger.info('issue_unblocked', { issue_id: issue.id, issue_identifier: issue.identifier, why });
    // The board has it in its history.
    if (!comments || editor !== undefined) return;
    const body = `Baton moved this issue to ${states.todo}: ${why}.`;
    await this.#ask((ask) =>
      changes.addComment(issue.id, body, { kind: 'orchestrator' }, askAsBaton(this.#parts, issue.id, ask)),
    );
  }

  async #promote(settings: Settings): Promise<void> {
    const { trackerFor, claims, source, logger } = this.#parts;
    const seam = trackerFor(settings);
    const { tracker, agent, board } = settings;
    const { todo } = tracker.states;
    if (!board.autoPromote || seam.fetchPromotable === undefined || todo === null) return;
    if (source.read().problem !== null) return;
    if (claims.takenSlots().length + claims.retrying.size >= agent.maxConcurrentAgents) return;
    // Not the candidates: they are those of a poll that may be older than the last promotion.
    const active = await this.#ask((ask) => seam.fetchByStates(tracker.activeStates, ask));
    if (active.some((issue) => this.#isFree(issue.id) && whyNotCandidate(issue, tracker) === null)) return;
    for (let page = 0; page < mostPages; page += 1) {
      const rows = { limit: pageSize, offset: page * pageSize };
      const waiting = await this.#ask(async (ask) => (await seam.fetchPromotable?.(rows, ask)) ?? []);
      const next = waiting.find(
        (issue) =>
          this.#isFree(issue.id) && whyNotBatons(issue, tracker) === null && !issue.labels.includes(proposedLabel),
      );
      if (next !== undefined) {
        if (whyNotStarted(this.#parts, { ...next, state: todo }) !== null) return;
        await this.#move(settings, next, todo, 'slots are free, and there is no other work');
        logger.info('issue_promoted', { issue_id: next.id, issue_identifier: next.identifier });
        return;
      }
      if (waiting.length < pageSize) return;
    }
  }

  async #move(settings: Settings, issue: Issue, to: string, reason: string): Promise<void> {
    const { changes } = this.#parts.trackerFor(settings);
    if (changes === null) return;
    const by = { kind: 'orchestrator' } as const;
    await moveIssue(this.#parts, changes, { id: issue.id, to, by, from: issue.state, reason, caller });
    this.#parts.requestTick();
  }

  /** No daemon has a claim on it. */
  #isFree(issueId: string): boolean {
    const { claims } = this.#parts;
    return !claims.has(issueId) && !claims.elsewhere.some((claim) => claim.issueId === issueId);
  }

  async #workedOn(seam: Tracker, issues: readonly Issue[]): Promise<readonly Issue[]> {
    const { store, project } = this.#parts;
    if (seam.editor !== undefined || issues.length === 0) return issues;
    const ids = issues.map(({ id }) => id);
    const starts = await store.runs.latestStarts(project, ids);
    return issues.filter(({ id }) => starts.has(id));
  }

  /** Whether the children of an issue have to be read: its blockers changed, or the last read is long ago. */
  #isDue({ id, blockedBy }: Issue, { isLocal }: Tracker): boolean {
    const at = this.#parts.clock.monotonic();
    const blockers = JSON.stringify(blockedBy);
    const last = this.#childrenReadAt.get(id);
    if (isLocal !== true && last?.blockers === blockers && at - last.at < childrenAgainMs) return false;
    this.#childrenReadAt.set(id, { blockers, at });
    return true;
  }

  /** A tracker that never answers must not keep the next moves from beginning. */
  #ask<T>(read: (ask: Ask) => Promise<T>): Promise<T> {
    return askTracker(this.#parts, (signal) => read({ signal, caller }));
  }

  #failed(thrown: unknown, issue?: Issue): void {
    const { logger, stopping } = this.#parts;
    const error = toBatonError(thrown);
    // Someone else moved it first; the next poll sees it where it is.
    if (stopping.aborted || error.code === 'board_move_refused') return;
    const named = issue === undefined ? {} : { issue_id: issue.id, issue_identifier: issue.identifier };
    logger.warn('status_move_failed', { ...named, error });
  }
}

/** The same for the same issues, in any order. */
function numberFor(links: readonly Blocker[]): number {
  const ids = links.map(({ id, identifier }) => id ?? identifier ?? '').toSorted();
  return createHash('sha256').update(JSON.stringify(ids)).digest().readUInt32BE(0);
}
