import type { Shortcoming } from '../../../src/core/pipeline/completion.ts';
import type { Phase, PhaseRecord, PipelineSettings } from '../../../src/core/pipeline/phase.ts';
import type { Settings } from '../../../src/core/settings.ts';
import { pipeline as seedPipeline } from '../../core/pipeline/phase.ts';
import { issue } from '../../fake/issues.ts';
import { type SettingChanges, settings } from '../../fake/settings.ts';
import { begun, type Scene, type SceneOptions, type StagedRun } from '../scene.ts';

export const second = 1_000;
export const minute = 60 * second;
const person = { kind: 'person', name: 'me' } as const;

/** Seed 4's phases, polled every second. */
export function phased(changes: SettingChanges = {}, pipeline: Partial<PipelineSettings> = {}): Settings {
  return { ...settings({ intervalMs: second, ...changes }), pipeline: seedPipeline(pipeline) };
}

/** One phase, `research`, and then the work. */
export function onlyResearch(more: Partial<Phase> = {}, pipeline: Partial<PipelineSettings> = {}): Settings {
  const [research] = seedPipeline().phases;
  if (research === undefined) throw new Error('no phase');
  return phased({}, { phases: [{ ...research, ...more }], ...pipeline });
}

export async function inPhases(options: SceneOptions = {}): Promise<Scene> {
  return begun({ issues: [issue({ id: '1' })], settings: phased(), ...options });
}

export const good = '# Findings\n\nIt is clear.\n';
export const bad = '# Something else\n\nNothing.\n';

/** The agent writes its artifact and calls `complete_phase`; returns what is wrong. */
export function complete(
  run: StagedRun | undefined,
  text: string = good,
  skipTo: string | null = null,
): Promise<readonly Shortcoming[]> {
  if (run === undefined) throw new Error('no run');
  const path = run.request.phase?.contract?.artifact ?? '';
  return run.request.complete({ path, artifact: { text }, schemaProblem: null, summary: 'done', skipTo });
}

/** The judge of an artifact says what it thinks, and leaves the files as they are. */
export function judge(run: StagedRun | undefined, verdict: 'approved' | 'rejected', problem = 'It is vague.'): void {
  const findings =
    verdict === 'approved'
      ? []
      : [{ file: null, line: null, severity: 'must' as const, problem, wanted: 'Say which file.' }];
  run?.request.report({ kind: 'opinion', opinion: { verdict, summary: 'So it is.', findings } });
  run?.request.report({ kind: 'changed', changed: false, facts: null });
  run?.succeed();
}

/** What each run was for: `research`, `judge of architecture`, `work`. */
export const worksOf = ({ runs }: Pick<Scene, 'runs'>): string[] => runs.map(workOf);

export function workOf({ request: { role, phase } }: StagedRun): string {
  if (role === 'phase_judge') return `judge of ${phase?.name}`;
  return role === 'phase' ? `${phase?.name}` : 'work';
}

export function recordOf({ store, project }: Scene, issueId = '1'): Promise<PhaseRecord | null> {
  return store.phases.read({ project, issueId });
}

/** The completion claims of an issue, the first one first: their phase and state. */
export async function claimsOf({ store, project }: Scene, issueId = '1'): Promise<string[]> {
  const all = await store.completionClaims.list({ project, issueId }, 100);
  return all.toReversed().map(({ phase, state }) => `${phase} ${state}`);
}

export function labelsIn({ tracker }: Pick<Scene, 'tracker'>, issueId = '1'): readonly string[] {
  return tracker.all().find(({ id }) => id === issueId)?.labels ?? [];
}

/** A person changes labels in the tracker. */
export async function relabel(
  { tracker }: Pick<Scene, 'tracker'>,
  add: readonly string[],
  remove: readonly string[],
  issueId = '1',
): Promise<void> {
  await tracker.changes.changeLabels(issueId, { add, remove }, person);
}

/** The last run succeeds with this artifact, and what follows from it happens. */
export async function finish(stage: Scene, text: string = good, skipTo: string | null = null): Promise<void> {
  await complete(stage.runs.at(-1), text, skipTo);
  stage.runs.at(-1)?.succeed();
  await stage.clock.advance(10 * second);
}
