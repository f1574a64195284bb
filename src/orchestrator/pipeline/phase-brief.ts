import { laterPhases, type PipelineSettings, phaseNames, phaseOf } from '../../core/pipeline/phase.ts';
import type { PhaseBrief } from '../../runner/runner.ts';
import type { IssueKey } from '../../store/issue-key.ts';
import type { Store } from '../../store/store.ts';
import type { Running } from '../claims/claim.ts';
import type { BaseParts } from '../parts.ts';

/** What a run gets to know from the pipeline; null where its issue never was in a phase. */
export async function briefForPhase(
  {
    store,
    project,
  }: Pick<BaseParts, 'project'> & { readonly store: Pick<Store, 'artifacts' | 'completionClaims' | 'phases'> },
  { issue, role, phase, workflow }: Pick<Running, 'issue' | 'role' | 'phase' | 'workflow'>,
): Promise<PhaseBrief | null> {
  const { pipeline } = workflow.settings;
  const key = { project, issueId: issue.id };
  const record = pipeline.phases.length === 0 ? null : await store.phases.read(key);
  if (record === null) return null;
  const name = phase ?? record.phase;
  const own = phaseOf(pipeline, name);
  const all = await latestArtifacts(store, key, pipeline);
  const current = all.find((artifact) => artifact.phase === name) ?? null;
  const claims = await store.completionClaims.list(key, 20);
  const last = claims.find((claim) => claim.phase === name && (claim.state === 'revise' || claim.state === 'person'));
  const open = role === 'phase_judge' ? claims.find(({ state }) => state === 'judging') : undefined;
  const judged = open?.version == null ? null : await store.artifacts.read(key, name, open.version);
  return {
    name,
    contract: own,
    earlier: all.filter((artifact) => artifact.phase !== name),
    current: current?.text ?? null,
    // They stay until the phase is completed, also when the mark for the revision has expired.
    reasons: last !== undefined && last.at >= record.since ? last.reasons : [],
    later: own?.maySkip === true ? laterPhases(pipeline, name) : [],
    isCommitted: pipeline.commitArtifacts,
    judged:
      open === undefined || judged === null ? null : { summary: open.summary, skipTo: open.skipTo, text: judged.text },
  };
}

/** The newest version of each artifact of an issue, in the order of the phases. */
export async function latestArtifacts(
  { artifacts }: Pick<Store, 'artifacts'>,
  key: IssueKey,
  pipeline: PipelineSettings,
): Promise<readonly { readonly phase: string; readonly text: string }[]> {
  const names = phaseNames(pipeline);
  const latest = await artifacts.latest(key);
  return latest
    .toSorted((one, other) => names.indexOf(one.phase) - names.indexOf(other.phase))
    .map(({ phase, text }) => ({ phase, text }));
}
