import { timedOut, within } from '../../clock/clock.ts';
import { systemChance } from '../../clock/system-chance.ts';
import { systemClock } from '../../clock/system-clock.ts';
import { BatonError, toBatonError } from '../../core/baton-error.ts';
import { type Issue, isMeantBy } from '../../core/issue/issue.ts';
import { type Stay, whyItStays } from '../../core/run/workspace-stay.ts';
import { quietLogger } from '../../daemon/quiet-logger.ts';
import { trackerMaker } from '../../daemon/trackers.ts';
import type { Workplace } from '../../daemon/workplace.ts';
import { type FoundWorkspace, findWorkspaces } from '../../orchestrator/workspaces/find-workspaces.ts';
import type { Tracker } from '../../tracker/tracker.ts';
import { listWorkspaces } from '../../workspace/list-workspaces.ts';

/** An existing workspace, with everything that is known of it. */
export interface WorkspaceRow extends FoundWorkspace {
  /** Undefined when the issue is unknown, or the tracker did not answer. */
  readonly issue: Issue | null | undefined;
  /** Why it is not removed now; null when it may go. */
  readonly stay: Stay | null;
}

export interface WorkspacesRead {
  readonly rows: readonly WorkspaceRow[];
  /** The error of the tracker that kept the states of the issues unknown. */
  readonly problem: BatonError | null;
}

/** How long to wait for the tracker. */
const trackerMs = 30_000;

/** The workspaces of a project with their sizes, as a sweep would find them. Changes nothing. */
export async function readWorkspaces(
  workplace: Workplace,
  { ignoresRetention }: { readonly ignoresRetention: boolean },
): Promise<WorkspacesRead> {
  const { store, project, settings } = workplace;
  const entries = await listWorkspaces(settings.workspace.root, { sizes: true });
  const found = await findWorkspaces({ store, clock: systemClock, project: project.id }, entries);
  const ids = [...new Set(found.flatMap(({ run }) => run?.issueId ?? []))];
  const { issues, problem } = await readIssues(workplace, ids);
  const { tracker, workspace } = settings;
  const rules = { tracker, workspace, now: systemClock.now(), ignoresRetention };
  const rows = found.map((each): WorkspaceRow => {
    const issue = each.run === null ? undefined : issues.get(each.run.issueId);
    return { ...each, issue, stay: whyNotWhole(each) ?? whyItStays({ ...each, issue }, rules) };
  });
  return { rows, problem };
}

/** The daemon finishes what was interrupted halfway. */
function whyNotWhole({ entry }: FoundWorkspace): Stay | null {
  if (entry.state === 'whole') return null;
  const text = entry.state === 'making' ? 'it is being made' : 'its removal was begun and is finished at a start';
  return { code: 'claimed', text };
}

interface IssuesRead {
  /** Null for issues that the tracker does not have. */
  readonly issues: ReadonlyMap<string, Issue | null>;
  readonly problem: BatonError | null;
}

async function readIssues(workplace: Workplace, ids: readonly string[]): Promise<IssuesRead> {
  if (ids.length === 0) return { issues: new Map(), problem: null };
  const stop = new AbortController();
  try {
    const caller = { job: 'workspace_list', cause: 'person' } as const;
    const asked = trackerOf(workplace).fetchByIds(ids, { signal: stop.signal, caller });
    const found = await within(systemClock, trackerMs, asked);
    if (found === timedOut) throw new BatonError('tracker_request', 'The tracker does not answer.');
    const byId = new Map(found.map((issue) => [issue.id, issue]));
    return { issues: new Map(ids.map((id) => [id, byId.get(id) ?? null])), problem: null };
  } catch (thrown) {
    stop.abort();
    return { issues: new Map(), problem: toBatonError(thrown, 'tracker_request') };
  }
}

export function trackerOf({ store, project, settings, remote, surroundings }: Workplace): Tracker {
  const storage = { clock: systemClock, chance: systemChance, store, project: project.id, onChange: () => {} };
  return trackerMaker({ clock: systemClock, logger: quietLogger, remote, storage }, surroundings)(settings);
}

/** Whether a name means this workspace: the id or name of its issue, or the name of its folder. */
export function isNamed({ run, entry }: FoundWorkspace, name: string): boolean {
  if (entry.key === name.trim()) return true;
  return run !== null && isMeantBy({ id: run.issueId, identifier: run.identifier }, name);
}
