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
