import type { Finding } from '../../../src/core/pull/judge.ts';
import type { Publication } from '../../../src/core/run/run-evidence.ts';
import type { JudgeSettings, Settings } from '../../../src/core/settings.ts';
import { MemoryTracker } from '../../../src/tracker/memory/memory-tracker.ts';
import { fakePulls } from '../../fake/fake-pulls.ts';
import { issue } from '../../fake/issues.ts';
import { settings } from '../../fake/settings.ts';
import { SimulatedClock } from '../../fake/simulated-clock.ts';
import { begun, type Scene, type SceneOptions, type StagedRun } from '../scene.ts';

export const hour = 3_600_000;
export const minute = 60_000;
const usual = settings().tracker;
/** The settings of a project whose runs lead to review. */
export const reviewed: Settings = settings({
  intervalMs: hour,
  agent: { afterSuccess: 'review', maxStaleRuns: 3 },
  tracker: { reviewStates: ['In Review'], states: { ...usual.states, review: 'In Review' } },
});

/** A scene in review mode, with a host that has what the test says. */
export async function inReviewMode(options: SceneOptions = {}, first = issue({ id: '1', title: 'Say hello' })) {
  const clock = new SimulatedClock();
  const states = ['Backlog', 'Todo', 'In Progress', 'In Review', 'Done'];
  const tracker = new MemoryTracker({ issues: [first], states, clock });
  const at = { head: 'commit-1' };
  const pulls = fakePulls(() => at.head);
  const stage = await begun({ clock, tracker, settings: reviewed, pullsFor: () => pulls.as, ...options });
  const allPulls = () => stage.store.pullRequests.list(stage.project, { limit: 10 });
  return Object.assign(stage, { pulls, at, allPulls, stateNow: () => stateOf(tracker) });
}

async function stateOf(tracker: MemoryTracker): Promise<string | undefined> {
  return (await tracker.fetchByIds(['1']))[0]?.state;
}

/** The agent commits, and ends without a word about its issue. */
export function commit(run: StagedRun | undefined, sha: string, change: Partial<Publication> = {}): void {
  const git = { head: sha, branch: 'baton/t-1', ahead: 1, changed: 0, untracked: 0, conflicts: 0 };
  run?.request.report({ kind: 'message', text: 'I said hello.' });
  run?.request.report({
    kind: 'changed',
    changed: true,
    facts: { fingerprint: sha, git },
    committed: true,
  });
  const published = { outcome: 'published', branch: 'baton/t-1', base: 'main', commit: sha } as const;
  run?.request.report({
    kind: 'published',
    publication: { ...published, before: null, reason: null, elsewhere: null, ...change },
  });
  run?.succeed();
}

/** How many issues run, wait and are held. */
export const claims = (stage: Scene) => {
  const { running, retrying, held } = stage.orchestrator.read();
  return [running.length, retrying.length, held.length];
};

/** Changes are judged. */
export function judging(judge: Partial<JudgeSettings> = {}, agent: Partial<Settings['agent']> = {}): Settings {
  return {
    ...reviewed,
    agent: { ...reviewed.agent, ...agent },
    judge: { ...reviewed.judge, agents: ['default'], ...judge },
  };
}

export const finding: Finding = {
  file: 'a.ts',
  line: 3,
  severity: 'must',
  problem: 'It is wrong.',
  wanted: 'Make it right.',
};

/** The judge says so and leaves the files as they are. */
export function say(
  run: StagedRun | undefined,
  findings: readonly Finding[] = [],
  changed: boolean | null = false,
): void {
  const verdict = findings.length === 0 ? ('approved' as const) : ('rejected' as const);
  run?.request.report({ kind: 'opinion', opinion: { verdict, summary: 'So it is.', findings } });
  silent(run, changed);
}

/** The judge says nothing. */
export function silent(run: StagedRun | undefined, changed: boolean | null = false): void {
  run?.request.report({ kind: 'changed', changed, facts: null });
  run?.succeed();
}

/** A change stands in review, and its judge runs. */
export async function judged(settings = judging(), options: Parameters<typeof inReviewMode>[0] = {}) {
  const stage = await inReviewMode({ settings, ...options });
  commit(stage.runs[0], 'commit-1');
  await stage.clock.advance(minute);
  return stage;
}

/** The agent of the change commits another time. */
export async function revise(stage: Awaited<ReturnType<typeof judged>>, nth: number): Promise<void> {
  stage.at.head = `commit-${nth}`;
  commit(stage.runs.at(-1), `commit-${nth}`);
  await stage.clock.advance(minute);
}

export const roles = ({ runs }: Pick<Scene, 'runs'>) =>
  runs.map(({ request }) => (request.judged === null ? 'worker' : 'judge'));
export const verdictsOf = async (stage: Scene) => stage.store.verdicts.list({ project: stage.project, number: 1 });
