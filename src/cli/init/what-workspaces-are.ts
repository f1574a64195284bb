import { toBatonError } from '../../core/baton-error.ts';
import { harmlessLine } from '../../core/harmless-line.ts';
import type { WorkspaceSettings } from '../../core/settings.ts';
import { readSource } from '../../workspace/git/read-source.ts';
import { boundedGit } from '../doctor/bounded-git.ts';
import type { Surroundings } from '../surroundings.ts';

/** What a ticket's workspace will be, in lines for people; with what a repository on this machine still lacks. */
export async function whatWorkspacesAre(
  { repo, base, strategy }: WorkspaceSettings,
  surroundings: Surroundings,
): Promise<string[]> {
  if (repo === null || strategy === 'none')
    return ['Workspaces begin empty; set workspace.repo to work on a repository.'];
  const first = `Each ticket gets a ${strategy} of ${harmlessLine(repo.shown)}.`;
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
