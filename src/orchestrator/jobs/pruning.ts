import { toBatonError } from '../../core/baton-error.ts';
import {
  nothingToPrune,
  type PruneAmount,
  type PruneKind,
  type PruneRow,
  type PublishedBranch,
} from '../../core/prune.ts';
import { whyItStays } from '../../core/run/workspace-stay.ts';
import type { Settings } from '../../core/settings.ts';
import { countOld, pruneStore, type Retention } from '../../store/prune-store.ts';
import type { Transcripts } from '../../store/transcripts/transcript-files.ts';
import type { BaseParts } from '../parts.ts';
import type { CleanerParts } from '../workspaces/clean-workspaces.ts';
import { everything, type WorkspaceSweep } from '../workspaces/sweep-workspaces.ts';

/** What of the files and references on this machine is past its retention. Each may reject. */
export interface FilePruning {
  savedWork(settings: Settings, wish: PruneWish): Promise<PruneAmount>;
  caches(settings: Settings, wish: PruneWish): Promise<PruneAmount>;
  /** Those branches that no one has moved or deleted since Baton published them. */
  standing(settings: Settings, published: readonly PublishedBranch[]): Promise<readonly PublishedBranch[]>;
  /** Saves the commits of a branch that its base lacks, and deletes it. False: it stays. */
  deleteBranch(settings: Settings, ended: PublishedBranch & { readonly title: string }): Promise<boolean>;
}

export interface PruneWish {
  /** Changes nothing. */
  readonly dryRun: boolean;
}

export interface PruningParts extends CleanerParts, Pick<BaseParts, 'own'> {
  readonly transcripts: Transcripts;
  readonly files: FilePruning;
  readonly sweep: WorkspaceSweep;
  /** A prune that a person asked for has finished. */
  readonly onPruned: () => void;
}

const dayMs = 24 * 3_600_000;
/** Rows per step; other work runs between two steps. */
const pruneStep = 200;
/** Minute buckets show today and yesterday; the day buckets stay. */
const requestMinutesDays = 7;

type Attempt = PruneRow & { readonly error: unknown };

/**
 * Removes what is past its retention: two jobs do it, and a person with `baton prune`. What must hold: each part is safe
 * to repeat, to interrupt, and to run next to another daemon; work is saved before the last reference to it goes; in doubt
 * a thing stays.
 */
export class Pruning {
  readonly #parts: PruningParts;
  /** By the id of the command that asked; null while it runs. */
  readonly #asked = new Map<string, readonly PruneRow[] | null>();

  constructor(parts: PruningParts) {
    this.#parts = parts;
  }

  /** For a command: begins, and returns what was removed once it has finished; null before. */
  ask(commandId: string): readonly PruneRow[] | null {
    const { own, onPruned } = this.#parts;
    const rows = this.#asked.get(commandId);
    if (rows === undefined) {
      this.#asked.set(commandId, null);
      const prune = async (): Promise<void> => {
        this.#asked.set(commandId, await this.everything({ dryRun: false }));
        onPruned();
      };
      own('prune', prune());
    } else if (rows !== null) this.#asked.delete(commandId);
    return rows ?? null;
  }

  /** All kinds, one after the other. Never rejects. */
  async everything(wish: PruneWish): Promise<readonly PruneRow[]> {
    // Workspaces first: while they are there, their branches stay. In a plan those that go do not count.
    const due = new Set<string>();
    const workspaces = await this.#attempt('workspaces', () => this.#workspaces(wish, due));
    const rows = [
      workspaces,
      ...(await this.#files(wish, wish.dryRun ? due : undefined)),
      ...(await this.#records(wish)),
    ];
    return rows.map(({ error: _, ...row }) => row);
  }

  /** The job `pruning`. */
  async pruneFiles(): Promise<void> {
    const { logger } = this.#parts;
    const rows = [
      ...(await this.#files({ dryRun: false })),
      await this.#attempt('transcripts', () => this.#leftTranscripts()),
    ];
    for (const { kind, count, bytes } of rows) if (count > 0) logger.info('pruned', { kind, count, bytes });
    throwFirst(rows);
  }

  /** The job `store_maintenance`: removes old rows, and lets the engine clean up. */
  async maintainStore(): Promise<void> {
    const { store, logger } = this.#parts;
    throwFirst(await this.#records({ dryRun: false }));
    logger.debug('store_maintained', { ...(await store.maintain()) });
  }

  async #files(wish: PruneWish, going: ReadonlySet<string> = new Set()): Promise<readonly Attempt[]> {
    const { files } = this.#parts;
    const { settings } = this.#parts.source.read().workflow;
    return [
      await this.#attempt('branches', () => this.#branches(wish, going)),
      await this.#attempt('saved_work', () => files.savedWork(settings, wish)),
      await this.#attempt('caches', () => files.caches(settings, wish)),
    ];
  }

  /** Adds to `due` the paths of the workspaces that may go. */
  async #workspaces({ dryRun }: PruneWish, due: Set<string>): Promise<PruneAmount> {
    const { sweep, source, workspacesFor } = this.#parts;
    for (const path of await sweep.due()) due.add(path);
    if (due.size === 0) return nothingToPrune;
    const { settings } = source.read().workflow;
    const list = () => workspacesFor(settings).list(settings.workspace.root, { sizes: true });
    const before = (await list()).filter(({ path }) => due.has(path));
    if (dryRun) return amountOf(before);
    await sweep.run(everything);
    const left = new Set((await list()).map(({ path }) => path));
    return amountOf(before.filter(({ path }) => !left.has(path)));
  }

  /** Branches of finished issues that have neither a claim nor a workspace nor an open pull request. */
  async #branches({ dryRun }: PruneWish, going: ReadonlySet<string>): Promise<PruneAmount> {
    const { store, project, source, clock, reads, files, workspacesFor, stopping } = this.#parts;
    const { settings } = source.read().workflow;
    const { branchRetentionDays } = settings.workspace;
    if (branchRetentionDays === 0) return nothingToPrune;
    const before = clock.now() - branchRetentionDays * dayMs;
    const standing = await files.standing(settings, await store.runs.publishedBranches(project, before));
    if (standing.length === 0) return nothingToPrune;
    const ids = standing.map(({ issueId }) => issueId);
    const issues = await reads.byIds(ids, { job: 'pruning', cause: 'sweep' });
    let count = 0;
    for (const each of standing) {
      if (stopping.aborted) break;
      const issue = issues.get(each.issueId) ?? null;
      if (issue === null || (await this.#isInUse(each, issue))) continue;
      const places = each.workspaces.filter((path) => !going.has(path));
      const there = await Promise.all(places.map((path) => workspacesFor(settings).isThere(path)));
      if (there.includes(true)) continue;
      if (dryRun || (await files.deleteBranch(settings, { ...each, title: issue.title }))) count += 1;
    }
    return { count, bytes: count === 0 ? 0 : null };
  }

  /** Read right before the deletion: the issue may be open again, or claimed by any daemon on the store. */
  async #isInUse({ issueId, idleSince }: PublishedBranch, issue: { readonly state: string }): Promise<boolean> {
    const { store, project, claims, source, clock } = this.#parts;
    const key = { project, issueId };
    const { tracker, workspace } = source.read().workflow.settings;
    const pinned = (await store.pins.list(project)).some((pin) => pin.issueId === issueId);
    const isClaimed = claims.has(issueId) || (await store.claims.read(key)) !== null;
    const isHeld = (await store.held.list(project)).some((held) => held.issueId === issueId);
    const waits =
      isHeld || (await store.retries.read(key)) !== null || (await store.pullRequests.openOfIssue(key)) !== null;
    const claim = isClaimed || waits ? 'its issue is in use' : null;
    const rules = { tracker, workspace, now: clock.now(), ignoresRetention: true };
    return whyItStays({ claim, isPinned: pinned, issue, idleSince }, rules) !== null;
  }

  async #records({ dryRun }: PruneWish): Promise<readonly Attempt[]> {
    const { store, clock, logger, transcripts, stopping } = this.#parts;
    const retention = this.#retention();
    try {
      const old = await countOld(store, retention);
      const files = await this.#oldTranscripts(old.runIds);
      const pruned = dryRun ? old : await pruneStore(store, clock, retention, stopping);
      if (!dryRun) await transcripts.remove([...new Set([...pruned.runIds, ...files.map(({ runId }) => runId)])]);
      const { runIds, artifacts, tasks, ...counts } = { ...pruned, artifactBytes: 0 };
      const records = Object.values(counts).reduce((sum, count) => sum + count, 0);
      if (!dryRun && runIds.length + artifacts + tasks + records > 0)
        logger.info('store_pruned', { runs: runIds.length, artifacts, tasks, records });
      return [
        rowOf('runs', { count: runIds.length, bytes: null }),
        rowOf('transcripts', amountOf(files)),
        rowOf('artifacts', { count: artifacts, bytes: old.artifactBytes }),
        rowOf('tasks', { count: tasks, bytes: null }),
        rowOf('records', { count: records, bytes: null }),
      ];
    } catch (error) {
      return [{ ...rowOf('records', nothingToPrune), problem: toBatonError(error).message, error }];
    }
  }

  #retention(): Retention {
    const { source, clock } = this.#parts;
    const { retentionDays } = source.read().workflow.settings.store;
    const olderThanMs = retentionDays === 0 ? null : retentionDays * dayMs;
    return {
      now: clock.now(),
      runsOlderThanMs: olderThanMs,
      commandsOlderThanMs: olderThanMs,
      requestMinutesOlderThanMs: requestMinutesDays * dayMs,
      step: pruneStep,
    };
  }

  async #leftTranscripts(): Promise<PruneAmount> {
    const left = await this.#oldTranscripts([]);
    await this.#parts.transcripts.remove(left.map(({ runId }) => runId));
    return amountOf(left);
  }

  /**
   * The transcripts of these runs, and old ones whose run the store no longer has: another daemon on the store removed it, or
   * this one was killed before it removed the file. A younger one may be of a run that a restored backup does not know.
   */
  async #oldTranscripts(runIds: readonly string[]) {
    const { store, transcripts } = this.#parts;
    const { now, runsOlderThanMs } = this.#retention();
    if (runsOlderThanMs === null) return [];
    const files = await transcripts.list();
    const pruned = new Set(runIds);
    const old = files.filter(({ runId, writtenAt }) => !pruned.has(runId) && writtenAt < now - runsOlderThanMs);
    const left = new Set(await store.runs.unknown(old.map(({ runId }) => runId)));
    return files.filter(({ runId }) => pruned.has(runId) || left.has(runId));
  }

  async #attempt(kind: PruneKind, act: () => Promise<PruneAmount>): Promise<Attempt> {
    try {
      return rowOf(kind, await act());
    } catch (error) {
      return { ...rowOf(kind, nothingToPrune), problem: toBatonError(error).message, error };
    }
  }
}

function rowOf(kind: PruneKind, amount: PruneAmount): Attempt {
  return { kind, ...amount, problem: null, error: null };
}

function amountOf(found: readonly { readonly bytes: number | null }[]): PruneAmount {
  const sizes = found.map(({ bytes }) => bytes);
  const bytes = sizes.includes(null) ? null : sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0);
  return { count: found.length, bytes };
}

/** A job fails when one of its parts did. */
function throwFirst(rows: readonly Attempt[]): void {
  const failed = rows.find(({ error }) => error !== null);
  if (failed !== undefined) throw failed.error;
}
