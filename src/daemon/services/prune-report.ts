import type { PruneReport } from '../../client/schema/prune.ts';
import { type PruneRow, pruneKinds } from '../../core/prune.ts';
import type { Settings } from '../../core/settings.ts';

/** Each row with the setting that limits it. */
export function pruneReport(rows: readonly PruneRow[], { store, workspace }: Settings): PruneReport {
  const values = {
    'workspace.retention_ms': workspace.retentionMs,
    'workspace.branch_retention_days': workspace.branchRetentionDays,
    'workspace.salvage_retention_days': workspace.salvageRetentionDays,
    'workspace.cache_retention_days': workspace.cacheRetentionDays,
    'store.retention_days': store.retentionDays,
  };
  return {
    rows: rows.map((row) => ({ ...row, setting: pruneKinds[row.kind], value: values[pruneKinds[row.kind]] })),
  };
}
