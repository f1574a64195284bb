import type { LedgerRun } from '../../run-ledger.ts';
import type { World } from '../../world.ts';

/** Whether a phase agent completed its phase, or a planner its plan: that counts, whatever happened to it afterwards. */
export function hasCompleted({ memory }: World, { issueId, role, phase, runId }: LedgerRun): boolean {
  if (role === 'planner') return memory.look('select 1 from plans where issue_id = ?', issueId).length > 0;
  return phase !== null && memory.look('select 1 from completion_claims where run_id = ?', runId).length > 0;
}
