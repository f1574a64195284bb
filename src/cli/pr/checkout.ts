import type { PullDetail } from '../../client/schema/pull.ts';
import { BatonError } from '../../core/baton-error.ts';
import { harmlessLine } from '../../core/text/harmless-line.ts';
import { connect } from '../../daemon/connect.ts';
import type { Surroundings } from '../../daemon/surroundings.ts';
import { exitCodes } from '../exit-codes.ts';
import { jsonLine } from '../json-line.ts';
import { personGit } from './person-git.ts';
import type { PullFlags } from './show-pulls.ts';

/** `baton pr checkout`: switches the folder of the caller to the branch. Git refuses where work would be lost. */
export async function checkoutPull(reference: string, flags: PullFlags, surroundings: Surroundings): Promise<number> {
  await using connection = await connect(flags, surroundings);
  const pull = await connection.project.pull(reference);
  const { branch, number } = pull;
  try {
    await personGit(['switch', branch], surroundings.cwd, surroundings);
  } catch (thrown) {
    throw (await notInClone(pull, thrown, surroundings)) ?? thrown;
  }
  surroundings.stdout.write(
    flags.json ? jsonLine({ pull: number, branch }) : `You are on ${branch} now. To go back: git switch -\n`,
  );
  return exitCodes.ok;
}

/** The folder is in no repository, or in one that does not have the branch; null: git has another reason. */
async function notInClone(pull: PullDetail, cause: unknown, surroundings: Surroundings): Promise<BatonError | null> {
  const { branch, repository } = pull;
  const { cwd } = surroundings;
  const ask = (args: readonly string[], folder = cwd): Promise<string | null> =>
    personGit(args, folder, surroundings).then(
      (said) => said.trim(),
      () => null,
    );
  const hasFiles = async (folder: string): Promise<boolean> =>
    (await ask(['rev-parse', '--is-inside-work-tree'], folder)) === 'true';
  const isInside = await hasFiles(cwd);
  const found = isInside ? await ask(['for-each-ref', `refs/heads/${branch}`, `refs/remotes/*/${branch}`]) : '';
  if (found !== '') return null;
  const why = isInside ? `The repository here has no branch ${branch}.` : `${cwd} is not in a git repository.`;
  const again = 'Run `git fetch` in a clone of the repository, then run this command there.';
  return new BatonError('not_in_clone', harmlessLine(why), {
    cause,
    // A repository of Baton's own has no files to switch.
    nextStep: (await hasFiles(repository)) ? `Run \`${pull.checkout_command}\`.` : again,
    details: { problem: isInside ? 'no_branch' : 'no_repository', branch, repository },
  });
}
