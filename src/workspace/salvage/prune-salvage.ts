import type { Salvage, SavedWork } from './salvage.ts';

export interface PruneRequest {
  /** Only what was saved longer ago than this. */
  readonly olderThanMs: number;
  readonly now: number;
  /** Only tells what would go. */
  readonly dryRun: boolean;
}

/** Drops saved work of the project that is older than wanted, and gives it back as a list. What is nobody's stays. */
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
