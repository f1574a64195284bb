import { toBatonError } from '../core/baton-error.ts';
import type { Issue } from '../core/issue.ts';
import { shortestRetention, whyItStays } from '../core/workspace-stay.ts';
import type { RunRecord } from '../store/runs.ts';
import { cleanWorkspace, noteRemoval } from './clean-workspaces.ts';
import type { OrchestratorContext } from './context.ts';
import { type FoundWorkspace, findWorkspaces } from './find-workspaces.ts';
import { trackerNow } from './pace.ts';
import { whyClaimed } from './scheduling-state.ts';

/** Which workspaces are meant. */
export interface SweepWish {
  /** Ids; null: every issue. */
  readonly issueIds: readonly string[] | null;
  /** Finished workspaces go although their time is not over. */
  readonly ignoresRetention: boolean;
}

export interface SweepReport {
  /** Workspaces that are there, of the issues that are meant. */
  readonly found: number;
  /** Those of finished issues whose time is over. */
  readonly due: number;
  readonly removed: number;
}

const caller = { job: 'workspace_sweep', cause: 'sweep' } as const;

/** What a poll has shown of an issue with a workspace serves a sweep so long. */
const knownForMs = 3_600_000;

export const everything: SweepWish = { issueIds: null, ignoresRetention: false };

/** A workspace that may have to go, and the run by which its issue is known. */
type Candidate = FoundWorkspace & { readonly run: RunRecord };

/**
 * Removes every workspace of a finished issue whose time is over. Only issues that have a directory here and that nobody
 * has are asked for, all in one read. What goes wrong with one does not keep the others, and what should be gone and is
 * not is told each time. Never rejects.
 */
export async function sweepWorkspaces(context: OrchestratorContext, wish: SweepWish): Promise<SweepReport> {
  const { logger, stopping } = context;
  try {
    const candidates = await findCandidates(context, wish);
    const due = await readDue(context, candidates, wish);
    let removed = 0;
    for (const each of due) {
      if (stopping.aborted) break;
      if (await removeOne(context, each, wish)) removed += 1;
    }
    const report = { found: candidates.length, due: due.length, removed };
    if (!stopping.aborted) tell(context, report, due);
    return report;
  } catch (thrown) {
    const error = toBatonError(thrown);
    if (!stopping.aborted) logger.warn('workspaces_unreadable', { error });
    for (const issueId of wish.issueIds ?? []) await noteStay(context, issueId, error.message);
    return { found: 0, due: 0, removed: 0 };
  }
}

/** The workspaces whose issue is known and meant. */
async function findCandidates(context: OrchestratorContext, { issueIds }: SweepWish): Promise<readonly Candidate[]> {
  const { settings } = context.source.read().workflow;
  const entries = await context.workspacesFor(settings).list(settings.workspace.root);
  const found = await findWorkspaces(
    context,
    entries.filter(({ state }) => state === 'whole'),
  );
  const wanted = issueIds === null ? null : new Set(issueIds);
  return found.flatMap((each) => {
    const { run } = each;
    return run === null || (wanted !== null && !wanted.has(run.issueId)) ? [] : [{ ...each, run }];
  });
}

interface Due extends Candidate {
  readonly issue: Issue;
}

async function readDue(
  context: OrchestratorContext,
  candidates: readonly Candidate[],
  wish: SweepWish,
): Promise<readonly Due[]> {
  const { source, clock } = context;
  const { tracker, workspace } = source.read().workflow.settings;
  const rules = { tracker, workspace, now: clock.now(), ignoresRetention: wish.ignoresRetention };
  // What no state lets go yet need not be asked for; but who asked for it by name hears why it stays.
  const shortest = wish.issueIds === null ? shortestRetention(workspace) : 0;
  const asked = candidates.filter(
    (each) =>
      !each.isPinned && claimOf(context, each) === null && (shortest === 0 || each.idleSince + shortest <= rules.now),
  );
  const ids = [...new Set(asked.map(({ run }) => run.issueId))];
  const issues = await readIssues(context, ids, wish);
  const due: Due[] = [];
  for (const each of candidates) {
    const issue = issues.get(each.run.issueId);
    const stay = whyItStays({ ...each, issue, claim: claimOf(context, each) }, rules);
    if (stay === null && issue != null) due.push({ ...each, issue });
    else if (stay !== null) await answer(context, wish, each, stay.text);
  }
  return due;
}

/**
 * Where a poll is one request, the tracker is asked only for what no poll has shown within the hour: these issues ride along
 * with the polls where there is room. Before a removal its issue is read once more. Who asks for single ones hears what is true now.
 */
async function readIssues(
  context: OrchestratorContext,
  ids: readonly string[],
  wish: SweepWish,
): Promise<ReadonlyMap<string, Issue | null>> {
  const { reads, state } = context;
  if (wish.issueIds !== null || trackerNow(context)?.fetchSnapshot === undefined) return reads.byIds(ids, caller);
  state.withWorkspace = ids;
  const known = new Map(
    ids.flatMap((id) => {
      const issue = reads.freshWithin(id, knownForMs);
      return issue === undefined ? [] : [[id, issue]];
    }),
  );
  const unknown = ids.filter((id) => !known.has(id));
  return new Map([...known, ...(await reads.byIds(unknown, caller))]);
}

/** Who asked for single workspaces hears of each one, also of those that were left alone. */
async function answer(
  context: OrchestratorContext,
  { issueIds }: SweepWish,
  { run }: Pick<Candidate, 'run'>,
  keptBecause: string | null,
): Promise<void> {
  if (issueIds !== null) await noteRemoval(context, run.runId, { keptBecause, saved: [] });
}

/** As above, when not even the workspaces could be seen. */
async function noteStay(context: OrchestratorContext, issueId: string, keptBecause: string): Promise<void> {
  const { store, project } = context;
  const last = await store.runs.latestOfIssue({ project, issueId }).catch(() => null);
  await noteRemoval(context, last?.runId ?? null, { keptBecause, saved: [] });
}

function claimOf({ state }: OrchestratorContext, { run, claim }: Candidate): string | null {
  return whyClaimed(state, run.issueId)?.text ?? claim;
}

async function removeOne(context: OrchestratorContext, { entry, run, issue }: Due, wish: SweepWish): Promise<boolean> {
  const { settings } = context.source.read().workflow;
  const result = await cleanWorkspace(context, {
    // By the name it was made for: the issue may have got another one.
    issue: { id: issue.id, identifier: run.identifier, title: issue.title },
    path: entry.path,
    runId: run.runId,
    attempt: run.attempt,
    settings,
    ignoresRetention: wish.ignoresRetention,
  });
  if (result.outcome === 'stays') await answer(context, wish, { run }, result.stay.text);
  if (result.outcome === 'absent') await answer(context, wish, { run }, null);
  return result.outcome === 'removed' || result.outcome === 'absent';
}

/** A sweep that achieves nothing is told as loudly as a failure: nobody would miss it otherwise until the disk is full. */
function tell({ logger }: OrchestratorContext, report: SweepReport, due: readonly Due[]): void {
  if (report.due === 0) return;
  if (report.removed > 0) {
    logger.info('workspaces_swept', { ...report });
    return;
  }
  const oldest = Math.min(...due.map(({ idleSince }) => idleSince));
  logger.warn('workspace_sweep_stuck', {
    ...report,
    oldest_since: new Date(oldest).toISOString(),
    workspaces: due.slice(0, mostNamed).map(({ entry }) => entry.path),
  });
}

/** How many workspaces a warning names. */
const mostNamed = 10;
