import { describe, expect, it } from 'vitest';
import type { Phase } from '../../../src/core/pipeline/phase.ts';
import type { Opinion } from '../../../src/core/pull/judge.ts';
import { pipeline } from '../../core/pipeline/phase.ts';
import { issue } from '../../fake/issues.ts';
import { settings } from '../../fake/settings.ts';
import { type Scene, type SceneOptions, type StagedRun, scene } from '../scene.ts';

const person = { kind: 'person', name: 'me' };
const good = '# Findings\n\nfacts\n';

async function phased(options: SceneOptions & { readonly entry?: string; readonly maxRevisions?: number } = {}) {
  const { entry = null, maxRevisions = 2 } = options;
  const stage = await scene({
    issues: [issue({ id: '1' })],
    settings: { ...settings({ intervalMs: 3_600_000 }), pipeline: pipeline({ entry, maxRevisions }) },
    ...options,
  });
  await stage.orchestrator.start();
  await stage.clock.advance(0);
  return stage;
}

/** One phase whose artifact is JSON. */
function jsonPhase(more: Partial<Phase>) {
  const [research] = pipeline().phases;
  if (research === undefined) throw new Error('no phase');
  return { ...settings({ intervalMs: 3_600_000 }), pipeline: pipeline({ phases: [{ ...research, ...more }] }) };
}

/** Its agent writes this artifact, says so, and ends. */
async function complete(stage: Scene, run: StagedRun | undefined, text = good, skipTo: string | null = null) {
  const artifact = { text };
  const said = { path: 'a.md', artifact, schemaProblem: null, summary: 'done', skipTo };
  await run?.request.complete(said);
  run?.succeed();
  await stage.clock.advance(2_000);
}

async function judge(stage: Scene, run: StagedRun | undefined, verdict: Opinion['verdict'], problem = 'vague') {
  const findings =
    verdict === 'rejected' ? [{ file: null, line: null, severity: 'must', problem, wanted: 'be clear' } as const] : [];
  run?.request.report({ kind: 'changed', changed: false, facts: null });
  run?.request.report({ kind: 'opinion', opinion: { verdict, summary: problem, findings } });
  run?.succeed();
  await stage.clock.advance(2_000);
}

function standing({ store, project }: Scene) {
  return store.phases.read({ project, issueId: '1' });
}

async function claimsOf({ store, project }: Scene) {
  return store.completionClaims.list({ project, issueId: '1' }, 20);
}

describe('a person who approves an artifact in the place of its judge', () => {
  it('lets the issue go on, and stops the judge', async () => {
    const stage = await phased({ entry: 'architecture' });
    await complete(stage, stage.runs[0]);
    expect(stage.runs[1]?.request).toMatchObject({ role: 'phase_judge' });
    expect(await stage.command('phase_approve', { issue: '1', note: 'Fine.' })).toMatchObject({
      code: 'artifact_approved',
      data: { phase: 'architecture', version: 1, next: 'grooming' },
    });
    expect(stage.runs[1]?.stops).toEqual(['phase_moved']);
    expect(await standing(stage)).toMatchObject({ phase: 'grooming', revisions: 0 });
    expect(await claimsOf(stage)).toMatchObject([
      { state: 'advanced', opinion: { verdict: 'approved', summary: 'Fine.' }, judgedBy: person },
    ]);
    stage.runs[1]?.end();
    await stage.clock.advance(2_000);
    // The next agent reads the words.
    expect(stage.runs[2]?.request).toMatchObject({ role: 'phase', messages: [{ body: 'Fine.', author: person }] });
    expect(await claimsOf(stage)).toHaveLength(1);
  });

  it('ends the hold of an artifact that was sent back too often, whatever it lacks', async () => {
    const stage = await phased({ maxRevisions: 0 });
    await complete(stage, stage.runs[0], 'nothing');
    expect(stage.orchestrator.read().held).toMatchObject([{ code: 'revisions_exhausted' }]);
    expect(await stage.command('phase_approve', { issue: '1' })).toMatchObject({
      code: 'artifact_approved',
      data: { phase: 'research', next: 'architecture' },
    });
    await stage.clock.advance(2_000);
    expect(stage.orchestrator.read().held).toEqual([]);
    expect(stage.runs[1]?.request).toMatchObject({ role: 'phase', phase: { name: 'architecture' } });
  });

  it('ends the hold of a judge that gave no verdict', async () => {
    const stage = await phased({ entry: 'architecture' });
    await complete(stage, stage.runs[0]);
    for (const at of [1, 2, 3]) {
      stage.runs[at]?.succeed();
      await stage.clock.advance(600_000);
    }
    expect(stage.orchestrator.read().held).toMatchObject([{ code: 'judge_without_verdict' }]);
    expect(await stage.command('phase_approve', { issue: '1' })).toMatchObject({ code: 'artifact_approved' });
    expect(stage.orchestrator.read().held).toEqual([]);
  });

  it('goes where the agent wanted to go', async () => {
    const stage = await phased({ entry: 'architecture' });
    await complete(stage, stage.runs[0], good, 'ready');
    expect(await stage.command('phase_approve', { issue: '1' })).toMatchObject({ data: { next: 'ready' } });
    expect(await standing(stage)).toMatchObject({ phase: 'ready', skipped: ['grooming'] });
  });

  it('approves their own version, if they wrote one', async () => {
    const stage = await phased({ entry: 'architecture' });
    await complete(stage, stage.runs[0]);
    const put = await stage.command('artifact_put', { issue: '1', text: 'Mine.' });
    expect(put).toMatchObject({
      code: 'artifact_stored',
      data: { version: 2, shortcomings: [{ code: 'missing_sections', sections: ['Findings'] }] },
    });
    expect(await stage.command('phase_approve', { issue: '1' })).toMatchObject({ data: { version: 2 } });
    expect(await claimsOf(stage)).toMatchObject([
      { state: 'advanced', version: 2, runId: null },
      { state: 'replaced', version: 1 },
    ]);
  });
});

describe("a person's version of an artifact that is JSON", () => {
  const threats = {
    ...{ requiredSections: [], validation: 'judge' as const },
    schema: { type: 'object', required: ['threats'], properties: { threats: { type: 'array' } } },
  };

  it.each([
    ['matches its schema', '{"threats": []}', []],
    ['lacks a field', '{"threat": 1}', ['wrong_schema']],
    ['is not JSON', '# Threats', ['wrong_schema']],
  ])('is stored with what is wrong if it %s', async (_what, text, codes) => {
    const stage = await phased({ settings: jsonPhase(threats) });
    await complete(stage, stage.runs[0], '{"threats": ["one"]}');
    const put = await stage.command('artifact_put', { issue: '1', text });
    const shortcomings = codes.map((code) => expect.objectContaining({ code }));
    expect(put).toMatchObject({ code: 'artifact_stored', data: { version: 2, shortcomings } });
    expect(await stage.command('phase_approve', { issue: '1' })).toMatchObject({ code: 'artifact_approved' });
    const [claim] = await claimsOf(stage);
    expect(claim?.found.map(({ code }) => code)).toEqual(codes);
    expect(claim?.reasons).toHaveLength(codes.length);
  });
});

describe('a person who rejects an artifact', () => {
  it('sends it back with their words, as a judge would', async () => {
    const stage = await phased({ entry: 'architecture' });
    await complete(stage, stage.runs[0]);
    expect(await stage.command('phase_reject', { issue: '1', note: 'Name the files.' })).toMatchObject({
      code: 'artifact_rejected',
      data: { phase: 'architecture', version: 1, next: 'architecture' },
    });
    stage.runs[1]?.end();
    await stage.clock.advance(2_000);
    expect(stage.runs[2]?.request).toMatchObject({ role: 'phase', phase: { reasons: ['Name the files.'] } });
    expect(await standing(stage)).toMatchObject({ phase: 'architecture', revisions: 1 });
  });

  it('gives the agent another round after too many, with the words of the judge next to their own', async () => {
    const stage = await phased({ entry: 'architecture', maxRevisions: 0 });
    await complete(stage, stage.runs[0]);
    await judge(stage, stage.runs[1], 'rejected', 'It is vague.');
    expect(stage.orchestrator.read().held).toMatchObject([{ code: 'revisions_exhausted' }]);
    expect(await stage.command('phase_reject', { issue: '1', note: 'Take the first way.' })).toMatchObject({
      code: 'artifact_rejected',
    });
    await stage.clock.advance(2_000);
    const { reasons = [] } = stage.runs[2]?.request.phase ?? {};
    expect(reasons[0]).toBe('Take the first way.');
    expect(reasons.slice(1).join(' ')).toContain('It is vague.');
  });

  it('is refused while the agent works on it', async () => {
    const stage = await phased({ entry: 'architecture' });
    await complete(stage, stage.runs[0]);
    await judge(stage, stage.runs[1], 'rejected');
    expect(stage.runs[2]?.request.role).toBe('phase');
    expect(await stage.command('phase_reject', { issue: '1', note: 'More.' })).toMatchObject({
      status: 'refused',
      code: 'nothing_to_reject',
      data: { why: 'being_revised' },
    });
    expect(stage.runs[2]?.stops).toEqual([]);
  });
});

describe('a person who moves an issue to a phase', () => {
  it('stops its run, withdraws its completion claim, and tells the next agent why', async () => {
    const stage = await phased({ entry: 'architecture' });
    await complete(stage, stage.runs[0]);
    const moved = await stage.command('phase_move', { issue: '1', phase: 'research', note: 'Look again.' });
    expect(moved).toMatchObject({ code: 'phase_moved', data: { phase: 'research' } });
    expect(await claimsOf(stage)).toMatchObject([{ state: 'withdrawn' }]);
    stage.runs[1]?.end();
    await stage.clock.advance(2_000);
    expect(stage.runs[2]?.request).toMatchObject({
      role: 'phase',
      phase: { name: 'research' },
      messages: [{ body: 'Look again.' }],
    });
  });

  it.each([
    ['moves it', (stage: Scene) => stage.command('phase_move', { issue: '1', phase: 'grooming' })],
    ['approves its artifact', (stage: Scene) => stage.command('phase_approve', { issue: '1' })],
  ])('starts it at once if it waits after a failure, when the person %s', async (_what, act) => {
    const stage = await phased();
    await stage.store.artifacts.add(
      { project: stage.project, issueId: '1' },
      {
        ...{ phase: 'research', text: good, author: { kind: 'person', name: 'me' }, at: 0 },
      },
    );
    for (const run of [0, 1]) {
      stage.runs[run]?.fail();
      await stage.clock.advance(15_000);
    }
    expect(stage.runs).toHaveLength(2);
    expect(await act(stage)).toMatchObject({ status: 'done' });
    await stage.clock.advance(100);
    expect(stage.runs).toHaveLength(3);
    const { project, store } = stage;
    expect(await store.counters.read({ project, issueId: '1' })).toMatchObject({ failures: 0 });
  });

  it('can put an issue into the pipeline before its first run', async () => {
    const stage = await phased({ trial: { only: ['none'], maxRuns: null } });
    expect(await standing(stage)).toBeNull();
    expect(await stage.command('phase_move', { issue: '1', phase: 'grooming' })).toMatchObject({ code: 'phase_moved' });
    expect(await standing(stage)).toMatchObject({ phase: 'grooming' });
  });
});

describe('a command about the pipeline', () => {
  it.each([
    [
      'phase_move',
      { phase: 'nowhere' },
      'unknown_phase',
      { phases: ['research', 'architecture', 'grooming', 'ready'] },
    ],
    ['phase_approve', {}, 'nothing_to_approve', { why: 'no_artifact' }],
    ['phase_reject', { note: 'No.' }, 'nothing_to_reject', { why: 'no_artifact' }],
    ['artifact_put', { phase: 'ready', text: 'x' }, 'unknown_phase', {}],
    ['artifact_put', { text: 'x'.repeat(1_001) }, 'artifact_too_large', { bytes: 1_001, limit: 1_000 }],
  ] as const)('%s %o is refused with %s', async (kind, payload, code, data) => {
    const stage = await phased();
    expect(await stage.command(kind, { issue: '1', ...payload })).toMatchObject({ status: 'refused', code, data });
    expect(stage.runs[0]?.stops).toEqual([]);
  });

  it.each(['phase_approve', 'phase_reject', 'artifact_put'])(
    '%s is refused for an issue that is not in the pipeline',
    async (kind) => {
      const stage = await phased({ trial: { only: ['none'], maxRuns: null } });
      const refused = await stage.command(kind, { issue: '1', note: 'x', text: 'x' });
      expect(refused).toMatchObject({ status: 'refused', code: 'not_in_pipeline' });
    },
  );

  it('is refused without a pipeline', async () => {
    const stage = await phased({ settings: settings({ intervalMs: 3_600_000 }) });
    expect(await stage.command('phase_move', { issue: '1', phase: 'ready' })).toMatchObject({ code: 'no_pipeline' });
  });

  it('decides nothing else when it comes again after a crash', async () => {
    const stage = await phased({ maxRevisions: 0 });
    await complete(stage, stage.runs[0], 'nothing');
    const { store, project } = stage;
    // The daemon died between its decision and its answer: the hold is still there.
    const begun = JSON.stringify({ phase: 'research', version: 1, next: 'architecture' });
    const draft = { id: 'again', project, kind: 'phase_approve', payload: { issue: '1' }, key: null, at: 0 };
    await store.commands.submit({ ...draft, author: { kind: 'person', name: 'me' } });
    await store.commands.begin('again', begun);
    const record = await standing(stage);
    if (record !== null) await store.phases.put({ project, issueId: '1' }, { ...record, phase: 'architecture' });
    stage.orchestrator.wake();
    await stage.clock.advance(0);
    expect((await store.commands.read('again'))?.result).toMatchObject({
      code: 'artifact_approved',
      data: { next: 'architecture' },
    });
    expect(await standing(stage)).toMatchObject({ phase: 'architecture' });
    expect(stage.orchestrator.read().held).toEqual([]);
  });
});

describe('the read model', () => {
  it('says where issues stand in the pipeline', async () => {
    const stage = await phased({ entry: 'architecture' });
    expect(stage.orchestrator.read().phases.get('1')).toMatchObject({ record: { phase: 'architecture' }, open: null });
    await complete(stage, stage.runs[0]);
    expect(stage.orchestrator.read().phases.get('1')).toMatchObject({ open: { state: 'judging' } });
    await stage.clock.advance(5_000);
    expect(stage.health.at(-1)?.phases).toMatchObject([{ phase: 'architecture', round: 1, waitsFor: 'judge' }]);
    expect(await stage.orchestrator.explain('1')).toMatchObject({ phase: { record: { phase: 'architecture' } } });
  });
});
