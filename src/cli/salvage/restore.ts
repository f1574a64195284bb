import path from 'node:path';
import { harmlessLine } from '../../core/text/harmless-line.ts';
import type { Surroundings } from '../../daemon/surroundings.ts';
import { exitCodes } from '../exit-codes.ts';
import { jsonLine } from '../json-line.ts';
import { openSalvage, type ReachFlags, reachOf } from './open-salvage.ts';

/** `baton salvage restore`: restores into a new folder, and changes nothing else. */
export async function restoreSalvage(
  wanted: string,
  flags: ReachFlags & { readonly to?: string },
  surroundings: Surroundings,
): Promise<number> {
  const { salvage } = openSalvage(flags, surroundings);
  const work = await salvage.find(wanted, reachOf(flags));
  const folder = path.resolve(surroundings.cwd, flags.to ?? `${usualName(work.name)}-salvaged`);
  const { branch, head, unstaged } = await salvage.restore(work, folder);
  const where = branch === null ? '' : `, on the branch ${harmlessLine(branch)}`;
  surroundings.stdout.write(
    flags.json
      ? jsonLine({ restored: work.name, folder, branch, head, unstaged })
      : `${harmlessLine(work.name)} is restored in ${folder}${where}\n${unstagedText(unstaged)}`,
  );
  return exitCodes.ok;
}

function unstagedText(tree: string | null): string {
  return tree === null
    ? ''
    : `Baton could not stage the staged changes again; they are in the tree ${tree} of that repository.\n`;
}

/** Named after the workspace; a nested repository also has its number, so that both can be restored side by side. */
function usualName(name: string): string {
  const [key = '', run = ''] = name.split('/');
  return `${key}${/\+\d+/.exec(run)?.[0] ?? ''}`;
}
