import { connect } from '../../daemon/connect.ts';
import type { Surroundings } from '../../daemon/surroundings.ts';
import { exitCodes } from '../exit-codes.ts';
import { jsonLine } from '../json-line.ts';
import { personGit } from './person-git.ts';
import type { PullFlags } from './show-pulls.ts';

/** `baton pr checkout`: switches the folder of the caller to the branch. Git refuses where work would be lost. */
export async function checkoutPull(reference: string, flags: PullFlags, surroundings: Surroundings): Promise<number> {
  await using connection = await connect(flags, surroundings);
  const { branch, number } = await connection.project.pull(reference);
  await personGit(['switch', branch], surroundings.cwd, surroundings);
  surroundings.stdout.write(
    flags.json ? jsonLine({ pull: number, branch }) : `You are on ${branch} now. To go back: git switch -\n`,
  );
  return exitCodes.ok;
}
