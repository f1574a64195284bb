import { BatonError, toBatonError } from '../../core/baton-error.ts';
import { type Finding, failedBy, passed, warned } from '../../core/finding.ts';
import type { RepositorySettings, Settings, WorkspaceSettings } from '../../core/settings.ts';
import { harmlessLine } from '../../core/text/harmless-line.ts';
import { findBackend } from '../../daemon/adapters.ts';
import type { Surroundings } from '../../daemon/surroundings.ts';
import type { LoadedWorkflow } from '../../workflow/load-workflow.ts';
import { lstatOrNull } from '../../workspace/file-system.ts';
import type { Git } from '../../workspace/git/git.ts';
import { isAtRemoteHost } from '../../workspace/git/source/home-repository.ts';
import { readSource } from '../../workspace/git/source/read-source.ts';
import { unusableSource } from '../../workspace/git/source/source-errors.ts';
import { findCommonDirectory } from '../../workspace/git/source/source-repository.ts';
import { boundedGit } from './bounded-git.ts';
import { checkRepositoryWrites } from './check-repository-writes.ts';

const check = 'repository';

/**
 * Whether workspaces can be filled from the repository that the workflow file names, and where their work goes. Writes
 * nothing; the time limit of `boundedGit` applies to all of it.
 */
export async function checkRepository(workflow: LoadedWorkflow, surroundings: Surroundings): Promise<Finding[]> {
  const { workspace } = workflow.settings;
  const { repo, strategy } = workspace;
  const git = boundedGit(surroundings);
  if (repo === null) return [withoutRepository(workflow.settings, surroundings)];
  // With an address, Baton reads it as its host does, with the token, and not with the credentials of git.
  if (!repo.isLocal && isAtRemoteHost(workflow.settings))
    return [passed(check, harmlessLine(`${repo.shown}: Baton reads it with the token of review.host`), atHost)];
  const readable =
    strategy === 'none'
      ? passed(check, `${harmlessLine(repo.shown)}: workspaces start empty (workspace.strategy is none)`, empty)
      : await checkBase(git, repo, workflow.settings);
  if (readable.status === 'failed' || !repo.isLocal) return [readable];
  const branches = strategy === 'none' ? null : branchTemplateOf(workflow);
  return [readable, await checkRepositoryWrites(git, repo, branches)];
}

const atHost = { code: 'at_host' };
const empty = { code: 'empty_workspaces' };

/** Plain folders may be intended, and hooks may clone; but an agent that must commit probably needs a repository. */
function withoutRepository({ agent, hooks }: Settings, surroundings: Surroundings): Finding {
  const message = 'no repository is set, so workspaces start empty';
  const { commitsWork } = findBackend(agent.backend, surroundings);
  if (!commitsWork || hooks.afterCreate !== null || hooks.beforeRun !== null) return passed(check, message, empty);
  const fix = 'set workspace.repo to a git repository with at least one commit';
  return warned(check, `${message}, so the agent's work is not in a branch`, fix, { code: 'no_branch' });
}

async function checkBase(git: Git, repo: RepositorySettings, settings: Settings): Promise<Finding> {
  const { base, strategy } = settings.workspace;
  try {
    const source = await readSource(git, { repo, base, branches: [] });
    const commit = source.commits.get(source.base) ?? '';
    if (repo.isLocal) await refuseUnusable(git, repo, commit);
    const from = base === null ? 'its HEAD' : 'workspace.base';
    const name = `${source.base} (${from})`;
    const at = isAtRemoteHost(settings)
      ? `${name} as it is on ${settings.review.repository} at ${settings.review.host}`
      : `commit ${commit.slice(0, 12)} of ${name}`;
    const message = harmlessLine(`${repo.shown}: each issue gets ${checkoutText(strategy)} that starts at ${at}`);
    return passed(check, message, { repository: repo.shown, base: source.base, commit, strategy });
  } catch (error) {
    const isNamed = toBatonError(error).code === 'repository_unavailable';
    return failedBy(check, error, isNamed ? '' : `${repo.shown}: `);
  }
}

/** The references of the repository can be read. This checks whether the objects behind them can be fetched. */
async function refuseUnusable(git: Git, repo: RepositorySettings, commit: string): Promise<void> {
  const common = await findCommonDirectory(git, repo.location);
  if ((await lstatOrNull(`${common}/shallow`)) !== null) {
    const nextStep =
      'Run `git fetch --unshallow` in it, or set workspace.repo to the repository that it was cloned from.';
    throw unusableSource(repo, { problem: 'shallow', what: 'is a shallow clone without its full history', nextStep });
  }
  const { code, stderr } = await git.ask({ args: ['cat-file', '-e', `${commit}^{tree}`], gitDir: common });
  if (code === 0) return;
  const said = harmlessLine(stderr) || 'nothing';
  throw new BatonError(
    'repository_unavailable',
    `The repository ${repo.shown} lacks objects of the commit ${commit}. git said: ${said}`,
    {
      nextStep: 'Run `git fsck` in the repository.',
      details: { repository: repo.shown, problem: 'damaged' },
    },
  );
}

function branchTemplateOf({ described }: LoadedWorkflow): string {
  return String(described.find(({ key }) => key === 'workspace.branch')?.value ?? '');
}

/** What an issue gets from the repository, as text. Not called a worktree: `git worktree list` would not show it. */
export function checkoutText(strategy: WorkspaceSettings['strategy']): string {
  return strategy === 'clone' ? 'its own clone' : 'its own checkout';
}
