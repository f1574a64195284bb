import { toBatonError } from '../../core/baton-error.ts';
import { harmlessLine } from '../../core/harmless-line.ts';
import type { Settings } from '../../core/settings.ts';
import { readSource } from '../../workspace/git/read-source.ts';
import { boundedGit } from '../doctor/bounded-git.ts';
import { whatIsMade } from '../doctor/what-is-made.ts';
import type { Surroundings } from '../surroundings.ts';
import { repositoryAround } from './repository-around.ts';

/**
 * What a ticket's workspace will be, in lines for people; with what a repository on this machine still lacks. `target` is
 * the workflow file.
 */
export async function whatWorkspacesAre(
  { agent, workspace: { repo, base, strategy } }: Settings,
  target: string,
  surroundings: Surroundings,
): Promise<string[]> {
  if (repo === null || strategy === 'none') {
    const empty = 'Workspaces begin empty; set workspace.repo to work on a repository.';
    if (agent.backend !== 'codex') return [empty];
    // Only a branch brings its work to a person.
    const isNone = (await repositoryAround(target, surroundings)) === null;
    const why = isNone ? 'This is no git repository' : 'No repository is named';
    return [`${why}: what the agent makes is in no branch.`, empty];
  }
  const first = `Each ticket gets ${whatIsMade(strategy)}, from ${harmlessLine(repo.shown)}.`;
  // Nobody asked to go to another machine.
  if (!repo.isLocal) return [first];
  try {
    await readSource(boundedGit(surroundings), { repo, base, branches: [] });
    return [first];
  } catch (error) {
    const { message, nextStep } = toBatonError(error);
    return [first, `But not yet: ${harmlessLine(message)}`, `  ${harmlessLine(nextStep)}`];
  }
}
