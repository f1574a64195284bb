import path from 'node:path';
import { harmlessLine } from '../../core/harmless-line.ts';
import { exitCodes } from '../exit-codes.ts';
import { jsonLine } from '../json-line.ts';
import type { Surroundings } from '../surroundings.ts';
import { openSalvage, type SalvageFlags } from './open-salvage.ts';

/** `baton salvage restore`: into a new folder, which nothing else is changed for. */
export async function restoreSalvage(
  wanted: string,
  flags: SalvageFlags & { readonly to?: string },
  surroundings: Surroundings,
): Promise<number> {
  const { salvage } = openSalvage(flags, surroundings);
  const work = await salvage.find(wanted);
  const folder = path.resolve(surroundings.cwd, flags.to ?? `${usualName(work.name)}-salvaged`);
  const { branch, head } = await salvage.restore(work, folder);
  const where = branch === null ? '' : `, on the branch ${harmlessLine(branch)}`;
  surroundings.stdout.write(
    flags.json
      ? jsonLine({ restored: work.name, folder, branch, head })
      : `${harmlessLine(work.name)} is restored in ${folder}${where}\n`,
  );
  return exitCodes.ok;
}

/** After the workspace; a nested repository has its number as well, so that both can be restored side by side. */
function usualName(name: string): string {
  const [key = '', run = ''] = name.split('/');
  return `${key}${/\+\d+/.exec(run)?.[0] ?? ''}`;
}
