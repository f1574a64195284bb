import { taskIssue } from '../../core/task/task.ts';
import type { BaseParts } from '../parts.ts';
import type { Candidates } from '../poll/candidates.ts';

export interface OfferParts extends Pick<BaseParts, 'clock' | 'notify' | 'project' | 'source' | 'store'> {
  readonly candidates: Candidates;
  readonly fillSlots: () => void;
}

/** The next decision knows the task, without a poll. */
export async function offerTask(
  { candidates, fillSlots, notify, project, source, store }: OfferParts,
  taskId: string,
): Promise<void> {
  const task = await store.tasks.read({ project, taskId });
  if (task?.status === 'waiting') candidates.offer(taskIssue(task, source.read().workflow.settings.tracker));
  notify();
  fillSlots();
}
