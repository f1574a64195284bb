import type { Ask } from '../../tracker/tracker.ts';
import type { BaseParts } from '../parts.ts';

/**
 * A request by which Baton itself writes text. It is recorded like the text of a run: a tracker may show it under the
 * name of a person, and it may repeat words of an agent, so it must never count as a trusted person's.
 */
export function askAsBaton(
  { store, project, clock }: Pick<BaseParts, 'store' | 'project' | 'clock'>,
  issueId: string,
  ask: Ask,
): Ask {
  const onWrite: NonNullable<Ask['run']>['onWrite'] = ({ kind, id }) =>
    store.runTexts.put({ project, kind, textId: id, runId: 'orchestrator', at: clock.now() });
  return { ...ask, run: { issueId, onWrite } };
}
