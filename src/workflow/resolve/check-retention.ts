import type { Settings } from '../../core/settings.ts';
import { errorAt, type Report } from '../workflow-problems.ts';

/** Baton knows from its runs which branches it made. */
export function checkRetention({ store, workspace }: Pick<Settings, 'store' | 'workspace'>, report: Report): void {
  const { branchRetentionDays: branches } = workspace;
  const { retentionDays: runs } = store;
  if (branches === 0 || runs === 0 || branches < runs) return;
  const key = 'workspace.branch_retention_days';
  const message = `${key} is ${branches}, but Baton forgets after store.retention_days (${runs}) which branches it made: it must be less`;
  report(errorAt(key, message, { problem: 'wrong_value', other: 'store.retention_days' }));
}
