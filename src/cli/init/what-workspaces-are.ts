import { type BatonError, toBatonError } from '../../core/baton-error.ts';
import type { Settings, WorkspaceStrategy } from '../../core/settings.ts';
import { harmlessLine } from '../../core/text/harmless-line.ts';
import type { Surroundings } from '../../daemon/surroundings.ts';
import { readSource } from '../../workspace/git/source/read-source.ts';
import { boundedGit } from '../doctor/bounded-git.ts';
import { whatIsMade } from '../doctor/check-repository.ts';
import { repositoryAround } from './repository-around.ts';

/** What the workspace of an issue will be. */
interface WorkspacesToCome {
  readonly strategy: WorkspaceStrategy;
  /** The repository that fills them, without a password; null when they begin empty. */
  readonly repository: string | null;
  /** Whether the current folder or the workflow file is inside a repository. */
  readonly isInRepository: boolean;
  /** What a repository on this machine still lacks. */
  readonly problem: BatonError | null;
}

/**
 * `target` is the workflow file. A repository on another machine is not contacted, because the user did not ask for it.
 */
export async function whatWorkspacesAre(
  { workspace: { repo, base, strategy } }: Settings,
  target: string,
  surroundings: Surroundings,
): Promise<WorkspacesToCome> {
  const isInRepository = (await repositoryAround(target, surroundings)) !== null;
  if (repo === null || strategy === 'none') return { strategy, repository: null, isInRepository, problem: null };
  const known = { strategy, repository: harmlessLine(repo.shown), isInRepository };
  if (!repo.isLocal) return { ...known, problem: null };
  try {
    await readSource(boundedGit(surroundings), { repo, base, branches: [] });
    return { ...known, problem: null };
  } catch (error) {
    return { ...known, problem: toBatonError(error) };
  }
}

/** For programs. */
export function workspacesReport({ isInRepository, ...rest }: WorkspacesToCome): Record<string, unknown> {
  return { ...rest, is_in_repository: isInRepository };
}

/** For people. */
export function workspaceLines(workspaces: WorkspacesToCome, commitsWork: boolean): string[] {
  const { strategy, repository, isInRepository, problem } = workspaces;
  if (repository === null) {
    const empty = 'Workspaces begin empty; set workspace.repo to work on a repository.';
    if (!commitsWork) return [empty];
    // Only a branch makes the work available to a person.
    const why = isInRepository ? 'No repository is named' : 'This is no git repository';
    return [`${why}: what the agent makes is in no branch.`, empty];
  }
  const first = `Each ticket gets ${whatIsMade(strategy)}, from ${repository}.`;
  if (problem === null) return [first];
  return [first, `But not yet: ${harmlessLine(problem.message)}`, `  ${harmlessLine(problem.nextStep)}`];
}
