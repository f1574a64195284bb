import type { WorkspaceReport, WorkspaceRow } from '../../client/schema/workspace.ts';
import { type Clock, timedOut, within } from '../../clock/clock.ts';
import { BatonError, toBatonError } from '../../core/baton-error.ts';
import type { Issue } from '../../core/issue/issue.ts';
import { type Stay, whyItStays } from '../../core/run/workspace-stay.ts';
import type { Settings } from '../../core/settings.ts';
import { certainTime } from '../../core/text/time-text.ts';
import { type FoundWorkspace, findWorkspaces } from '../../orchestrator/workspaces/find-workspaces.ts';
import { presentRun } from '../../server/api/present/present-run.ts';
import type { Store } from '../../store/store.ts';
import type { Tracker } from '../../tracker/tracker.ts';
import { listWorkspaces } from '../../workspace/list-workspaces.ts';

export interface WorkspaceReportParts {
  readonly store: Store;
  /** The project's id in the store. */
  readonly project: string;
  readonly clock: Clock;
  readonly settings: Settings;
  readonly tracker: Tracker;
}

/** How long to wait for the tracker. */
const trackerMs = 30_000;

/** The workspaces of a project with their sizes, as a sweep would find them. Changes nothing. */
export async function workspaceReport(
  parts: WorkspaceReportParts,
  { ignoresRetention }: { readonly ignoresRetention: boolean },
): Promise<WorkspaceReport> {
  const { tracker, workspace } = parts.settings;
  const entries = await listWorkspaces(workspace.root, { sizes: true });
  const found = await findWorkspaces(parts, entries);
  const ids = [...new Set(found.flatMap(({ run }) => run?.issueId ?? []))];
  const { issues, problem } = await readIssues(parts, ids);
  const rules = { tracker, workspace, now: parts.clock.now(), ignoresRetention };
  const workspaces = found.map((each): WorkspaceRow => {
    const issue = each.run === null ? undefined : issues.get(each.run.issueId);
    return presentRow(each, issue, whyNotWhole(each) ?? whyItStays({ ...each, issue }, rules));
  });
  return { root: workspace.root, workspaces, problem: problem === null ? null : presentProblem(problem) };
}

/** The daemon finishes an operation that was interrupted. */
function whyNotWhole({ entry }: FoundWorkspace): Stay | null {
  if (entry.state === 'whole') return null;
  const text =
    entry.state === 'making' ? 'it is being made' : 'its removal was interrupted; the next start finishes it';
  return { code: 'claimed', text };
}

function presentRow(
  { entry, run, isPinned }: FoundWorkspace,
  issue: Issue | null | undefined,
  stay: Stay | null,
): WorkspaceRow {
  const last = run === null ? null : presentRun(run);
  const isUnknown = stay?.code === 'issue_unknown' && run !== null && issue === undefined;
  const kept = run?.removal?.keptBecause ?? null;
  const goes = kept === null ? 'the next sweep removes it' : `it could not be removed: ${kept}`;
  return {
    issue_id: run?.issueId ?? null,
    issue_identifier: run?.identifier ?? null,
    state: issue?.state ?? null,
    key: entry.key,
    path: entry.path,
    step: entry.state,
    bytes: entry.bytes,
    changed_at: certainTime(entry.changedAt),
    pinned: isPinned,
    last_run:
      last === null
        ? null
        : { run_id: last.run_id, ended_at: last.ended_at, evidence: last.evidence, removal: last.removal },
    may_go: stay === null,
    code: stay?.code ?? null,
    // The tracker was asked about every issue that has a known run.
    reason: stay === null ? goes : isUnknown ? 'the state of its issue is not known' : stay.text,
  };
}

function presentProblem({ code, message, nextStep, details }: BatonError): WorkspaceReport['problem'] {
  return { code, message, next_step: nextStep, details };
}

interface IssuesRead {
  /** Null for issues that the tracker does not have. */
  readonly issues: ReadonlyMap<string, Issue | null>;
  readonly problem: BatonError | null;
}

async function readIssues({ tracker, clock }: WorkspaceReportParts, ids: readonly string[]): Promise<IssuesRead> {
  if (ids.length === 0) return { issues: new Map(), problem: null };
  const stop = new AbortController();
  try {
    const caller = { job: 'workspace_list', cause: 'person' } as const;
    const found = await within(clock, trackerMs, tracker.fetchByIds(ids, { signal: stop.signal, caller }));
    if (found === timedOut) throw new BatonError('tracker_request', 'The tracker does not answer.');
    const byId = new Map(found.map((issue) => [issue.id, issue]));
    return { issues: new Map(ids.map((id) => [id, byId.get(id) ?? null])), problem: null };
  } catch (thrown) {
    stop.abort();
    return { issues: new Map(), problem: toBatonError(thrown, 'tracker_request') };
  }
}
