import { stat } from 'node:fs/promises';
import type { Git } from '../git/git.ts';
import type { Salvage, SavedWork } from './salvage.ts';

export interface PruneRequest {
  /** Only work that was saved longer ago than this. */
  readonly olderThanMs: number;
  readonly now: number;
  /** Only reports the work that would be dropped. */
  readonly dryRun: boolean;
}

/** Drops the project's saved work that is older than given, and returns it. Work without a project stays. */
export async function pruneSalvage(
  salvage: Salvage,
  { olderThanMs, now, dryRun }: PruneRequest,
): Promise<readonly SavedWork[]> {
  const old = (await salvage.list()).filter(({ savedAt, project }) => project !== null && now - savedAt > olderThanMs);
  if (dryRun) return old;
  for (const work of old) await salvage.drop(work);
  if (old.length > 0) await salvage.tidy();
  return old;
}

const measureMs = 60_000;

/** The objects that no other reference has, and the files of archives. */
export async function measureSaved(git: Git, works: readonly SavedWork[]): Promise<number | null> {
  let bytes = 0;
  try {
    for (const { kind, repository } of works) if (kind === 'archive') bytes += (await stat(repository)).size;
    const commits = Map.groupBy(
      works.filter(({ kind }) => kind === 'commit'),
      ({ repository }) => repository,
    );
    for (const [gitDir, saved] of commits) {
      const except = saved.flatMap(({ reference }) => (reference === null ? [] : [`--exclude=${reference}`]));
      const args = ['rev-list', '--objects', '--disk-usage', '--stdin', '--not', ...except, '--all'];
      const stdin = `${saved.map(({ commit }) => commit ?? '').join('\n')}\n`;
      bytes += Number(await git.run({ gitDir, args, stdin, timeoutMs: measureMs }));
    }
  } catch {
    return null;
  }
  return bytes;
}
