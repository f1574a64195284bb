import type { Diff } from '../../../client/schema/run.ts';
import type { Clock } from '../../../clock/clock.ts';
import { toBatonError } from '../../../core/baton-error.ts';
import type { RunEvidence } from '../../../core/run/run-evidence.ts';
import type { RepositorySettings } from '../../../core/settings.ts';
import type { ApiPulls } from '../../../server/api/api-project.ts';
import type { Runs } from '../../../store/tables/runs.ts';
import type { Checkout } from '../../../workspace/git/checkout/checkout.ts';
import type { Git } from '../../../workspace/git/git.ts';
import type { GitPlaces } from '../../../workspace/git/git-places.ts';
import { limitConcurrency } from '../../../workspace/limit-concurrency.ts';
import { diffAgainst, diffPublished, diffSince, publishedIn, wherePublished } from './diff-published.ts';
import { diffWorkspace, noDiff } from './diff-workspace.ts';

export interface WorkspaceDiffParts {
  readonly git: Git;
  readonly places: GitPlaces;
  readonly findCheckout: (workspace: string) => Promise<Checkout | null>;
  readonly clock: Clock;
}

/** An agent can make git hang; a person must not wait for that. */
const longestMs = 30_000;

/** Some runs end before they have a workspace; then the workspace of an earlier run counts. */
const runsSearched = 10;

/**
 * Diffs of workspaces for people. What must hold: it never rejects; diffs wait for their turn, so that no number of
 * watchers keeps runs from git; callers that ask for the same workspace meanwhile share one answer.
 */
export function createWorkspaceDiff(parts: WorkspaceDiffParts): (workspace: string) => Promise<Diff> {
  const { git, places, findCheckout } = parts;
  const inTurn = takingTurns(parts.clock);
  return (workspace) =>
    inTurn(workspace, async (signal) => {
      const checkout = await findCheckout(workspace).catch(() => null);
      return await diffWorkspace(workspace, { git, places, checkout, signal });
    });
}

export interface PublishedDiffParts extends Pick<WorkspaceDiffParts, 'git' | 'places' | 'clock'> {
  /** Where workspaces currently come from; null when they are plain folders. */
  readonly repo: () => RepositorySettings | null;
}

/** The same for a workspace that is gone: the diff of the commits published to the repository. */
export function createPublishedDiff(parts: PublishedDiffParts): (evidence: RunEvidence) => Promise<Diff> {
  const { git, places } = parts;
  const inTurn = takingTurns(parts.clock);
  return async (evidence) => {
    const repo = parts.repo();
    if (repo === null) return noDiff(nothingLeft);
    const published = publishedIn(evidence);
    const branch = published?.branch ?? evidence.publication?.branch ?? evidence.git?.branch ?? null;
    const elsewhere = noDiff(branch === null ? nothingLeft : wherePublished(branch, repo));
    if (published === null) return elsewhere;
    return inTurn(
      `${published.commit} ${published.ahead}`,
      async (signal) => (await diffPublished(published, { git, places, repo, signal })) ?? elsewhere,
    );
  };
}

/** The diff of a change under review against its base, or since an earlier round of it. */
export function createPullDiff(parts: PublishedDiffParts): ApiPulls['diff'] {
  const { git, places } = parts;
  const inTurn = takingTurns(parts.clock);
  return async ({ branch, headCommit: commit, baseCommit }, since) => {
    const repo = parts.repo();
    if (repo === null) return noDiff(wherePulls);
    const change = { branch, commit };
    return inTurn(`${since?.headCommit ?? ''} ${baseCommit} ${commit}`, async (signal) => {
      const reading = { git, places, repo, signal };
      const diff =
        since === null
          ? await diffAgainst(change, baseCommit, reading)
          : await diffSince(change, { earlier: since.headCommit, base: baseCommit }, reading);
      return diff ?? noDiff(wherePublished(branch, repo));
    });
  };
}

const wherePulls = 'This project has no repository any more (`workspace.repo`).';

/** The diff of the workspace of an issue's latest run; if the workspace is gone, of the work published from it. */
export async function diffOfIssue(
  { runs, project }: { readonly runs: Pick<Runs, 'list'>; readonly project: string },
  issueId: string,
  diffOf: (workspace: string) => Promise<Diff>,
  publishedDiff: (evidence: RunEvidence) => Promise<Diff>,
): Promise<Diff> {
  const latest = await runs.list(project, { issueId, limit: runsSearched });
  const run = latest.find(({ workspace }) => workspace !== null);
  if (run?.workspace == null) return noDiff('No run of this issue has had a workspace yet.');
  const { workspace, removal } = run;
  if (removal === null || removal.keptBecause !== null) return diffOf(workspace);
  const saved = removal.saved.map(({ restore }) => restore);
  if (saved.length > 0)
    return noDiff(`The workspace was removed and its work was saved. To restore it: ${saved.join('; ')}`);
  // A killed run has no evidence; then that of an earlier run is used.
  const seen = latest.find((each) => each.workspace === workspace && each.evidence?.git?.head != null)?.evidence;
  return seen == null ? noDiff(nothingLeft) : publishedDiff(seen);
}

const nothingLeft = 'The workspace was removed. It had no work that exists nowhere else.';

type InTurn = (key: string, work: (signal: AbortSignal) => Promise<Diff>) => Promise<Diff>;

function takingTurns(clock: Clock): InTurn {
  const inTurn = limitConcurrency(1);
  const underWay = new Map<string, Promise<Diff>>();
  return (key, work) => {
    const there = underWay.get(key);
    if (there !== undefined) return there;
    const made = inTurn(() => withTimeLimit(clock, work)).finally(() => underWay.delete(key));
    underWay.set(key, made);
    return made;
  };
}

async function withTimeLimit(clock: Clock, work: (signal: AbortSignal) => Promise<Diff>): Promise<Diff> {
  const over = new AbortController();
  const timer = clock.schedule(longestMs, () => over.abort());
  try {
    return await work(over.signal);
  } catch (thrown) {
    if (over.signal.aborted) return noDiff(`Reading the workspace took longer than ${longestMs / 1_000} seconds.`);
    return noDiff(toBatonError(thrown).message);
  } finally {
    timer.cancel();
  }
}
