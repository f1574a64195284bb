import { type BatonError, toBatonError } from '../../core/baton-error.ts';
import type { Settings, WorkspaceStrategy } from '../../core/settings.ts';
import { harmlessLine } from '../../core/text/harmless-line.ts';
import type { Surroundings } from '../../daemon/surroundings.ts';
import { readSource } from '../../workspace/git/source/read-source.ts';
import { boundedGit } from '../doctor/bounded-git.ts';
import { checkoutText } from '../doctor/check-repository.ts';
import { repositoryAround } from './repository-around.ts';

/** What the workspaces will be filled with. */
interface PlannedWorkspaces {
  readonly strategy: WorkspaceStrategy;
  /** The repository that fills them, without a password; null when they start empty. */
  readonly repository: string | null;
  /** Whether the current folder or the workflow file is inside a repository. */
  readonly isInRepository: boolean;
  /** Why a repository on this machine cannot be used yet. */
  readonly problem: BatonError | null;
}

/**
 * `target` is the workflow file. A repository on another machine is not contacted, because the user did not ask for it.
 */
export async function planWorkspaces(
  { workspace: { repo, base, strategy } }: Settings,
  target: string,
  surroundings: Surroundings,
): Promise<PlannedWorkspaces> {
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

/** For `--json`. */
export function workspacesReport({ isInRepository, ...rest }: PlannedWorkspaces): Record<string, unknown> {
  return { ...rest, is_in_repository: isInRepository };
}

/** For people. */
export function workspaceLines(workspaces: PlannedWorkspaces, commitsWork: boolean): string[] {
  const { strategy, repository, isInRepository, problem } = workspaces;
  if (repository === null) {
    const empty = 'Workspaces start empty. To work on a repository, set workspace.repo.';
    if (!commitsWork) return [empty];
    // A person finds the work only in a branch.
    const why = isInRepository ? 'No repository is set' : 'This folder is not in a git repository';
    return [`${why}, so the agent's work is not in a branch.`, empty];
  }
  const first = `Each issue gets ${checkoutText(strategy)} of ${repository}.`;
  if (problem === null) return [first];
  return [first, `That does not work yet: ${harmlessLine(problem.message)}`, `  ${harmlessLine(problem.nextStep)}`];
}
