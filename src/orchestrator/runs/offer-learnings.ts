import { type Learning, learningsFor } from '../../core/learning/learning.ts';
import type { Running } from '../claims/claim.ts';
import type { BaseParts } from '../parts.ts';

/** What earlier work taught, for the agent of this run. It is written which issue got what, before its agent gets it. */
export async function offerLearnings(
  { clock, project, store }: Pick<BaseParts, 'clock' | 'project' | 'store'>,
  { issue, role, workflow }: Running,
): Promise<readonly Learning[]> {
  if (role !== 'worker' && role !== 'phase') return [];
  const all = await store.learnings.list(project);
  const chosen = learningsFor(issue.id, all, workflow.settings.learner.maxChars);
  const ids = chosen.map(({ id }) => id);
  await store.learnings.offer({ project, issueId: issue.id }, ids, clock.now());
  return chosen;
}
