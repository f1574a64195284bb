import { BatonError } from '../../core/baton-error.ts';
import { type CompletionRequest, type Shortcoming, shortcomings } from '../../core/pipeline/completion.ts';
import type { Running } from '../claims/claim.ts';
import type { Claims } from '../claims/claims.ts';
import type { BaseParts } from '../parts.ts';

export interface CompletePhaseParts extends Pick<BaseParts, 'chance' | 'clock' | 'notify' | 'project'> {
  readonly claims: Claims;
}

/**
 * Stores the artifact and the completion claim of a run before the agent gets its answer. What follows from it is decided
 * when the run ends. A later claim of the same run takes the place of the earlier one. Returns what is wrong with it.
 */
export async function completePhase(
  { chance, clock, notify, claims }: CompletePhaseParts,
  running: Running,
  { path, artifact, schemaProblem, summary, skipTo }: CompletionRequest,
): Promise<readonly Shortcoming[]> {
  const { runId, phase, workflow } = running;
  if (phase === null) throw new BatonError('command_refused', 'This run has no phase.');
  const { pipeline } = workflow.settings;
  const id = chance.id();
  const at = clock.now();
  let found: readonly Shortcoming[] = [];
  const isOurs = await claims.writeForRun(running, async (tables, key) => {
    const record = await tables.phases.read(key);
    found = shortcomings({ phase, path, skipTo }, artifact, {
      pipeline,
      current: record?.phase ?? phase,
      schemaProblem,
    });
    const author = { kind: 'run', runId } as const;
    const version =
      'text' in artifact ? await tables.artifacts.add(key, { phase, text: artifact.text, author, at }) : null;
    await tables.completionClaims.add(key, { id, phase, runId, path, version, summary, skipTo, at, found });
  });
  if (!isOurs) throw new BatonError('claim_lost', 'Another daemon has the issue now.');
  running.completion = { id, phase, skipTo, found };
  notify();
  return found;
}
