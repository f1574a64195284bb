import { describe, expect, it } from 'vitest';
import { pipeline } from '../../core/pipeline/phase.ts';
import { issue } from '../../fake/issues.ts';
import { settings } from '../../fake/settings.ts';
import { begun } from '../../orchestrator/scene.ts';
import { projectOf } from './api-scene.ts';
import { readsOf } from './read-scene.ts';

const at = '/api/v1/projects/test';

/** An issue whose agent has completed its phase twice; its judge reads the second version. */
async function judged() {
  const all = { ...settings({ intervalMs: 3_600_000 }), pipeline: pipeline({ entry: 'architecture' }) };
  const stage = await begun({ settings: all, issues: [issue({ id: '1', identifier: 'X-1' })] });
  for (const text of ['# Findings\n\nvague\n', '# Findings\n\nclear\n']) {
    const said = { path: 'a.md', artifact: { text }, schemaProblem: null, summary: 'done', skipTo: null };
    await stage.runs[0]?.request.complete(said);
  }
  stage.runs[0]?.succeed();
  await stage.clock.advance(2_000);
  return { ...readsOf([projectOf(stage, 'test', { pipeline: () => all })]), stage };
}

describe('the pipeline in the API', () => {
  it('has the phases, their price, and the issues by phase', async () => {
    const { get } = await judged();
    expect(await get(`${at}/pipeline`)).toMatchObject({
      phases: [
        { name: 'research', judge: null },
        { name: 'architecture', validation: 'judge', judge: 'default', max_bytes: 1_000 },
        { name: 'grooming' },
      ],
      entry: 'architecture',
      runs: { usual: 4, limit: 30 },
      issues: [{ issue_identifier: 'X-1', phase: 'architecture', revisions: 0, waits_for: 'judge' }],
      is_cut: false,
    });
    expect((await get(at)).running).toMatchObject([{ phase: { name: 'architecture', round: 1, waits_for: 'judge' } }]);
    expect((await get(at)).vitals.phases).toEqual(['research', 'architecture', 'grooming', 'ready']);
  });

  it('has the steps, completion claims and artifacts of an issue', async () => {
    const { get } = await judged();
    const { pipeline: standing } = await get(`${at}/issues/X-1/pipeline`);
    expect(standing).toMatchObject({
      phase: 'architecture',
      needs_revision: false,
      waits_for: 'judge',
      steps: [{ status: 'done' }, { status: 'current' }, { status: 'coming' }, { status: 'coming' }],
      claims: [
        { state: 'judging', version: 2 },
        { state: 'replaced', version: 1 },
      ],
      artifacts: [{ version: 2, bytes: 18 }, { version: 1 }],
      actions: ['phase_approve', 'phase_reject', 'phase_move', 'artifact_put'],
    });
    expect((await get(`${at}/issues/X-1`)).pipeline).toEqual(standing);
  });

  it('has each version of an artifact, and the difference between two', async () => {
    const { get, refused } = await judged();
    const artifact = `${at}/issues/X-1/artifacts/architecture`;
    expect(await get(artifact)).toMatchObject({ version: 2, text: '# Findings\n\nclear\n' });
    expect(await get(`${artifact}?version=1`)).toMatchObject({ version: 1, text: '# Findings\n\nvague\n' });
    expect(await get(`${artifact}/diff`)).toMatchObject({
      base: 'version 1',
      head: 'version 2',
      files: [{ path: '.baton/architecture.md', status: 'modified', added: 1, removed: 1 }],
    });
    expect((await get(`${artifact}/diff?to=1`)).files).toMatchObject([{ status: 'added', added: 3, removed: 0 }]);
    expect(await refused(`${artifact}?version=3`)).toEqual([404, 'artifact_not_found']);
    expect(await refused(`${at}/issues/X-1/artifacts/nowhere`)).toEqual([404, 'artifact_not_found']);
  });

  it('has what people decided in the history of the issue, also by a label', async () => {
    const { get, stage } = await judged();
    const person = { kind: 'person', name: 'me' } as const;
    await stage.command('phase_reject', { issue: '1', note: 'Name the files.' });
    await stage.command('phase_move', { issue: '1', phase: 'grooming' });
    await stage.clock.advance(10_000);
    await stage.tracker.changes.changeLabels('1', { add: ['phase:research'], remove: ['phase:grooming'] }, person);
    await stage.orchestrator.refresh();
    await stage.clock.advance(10_000);
    const { history } = await get(`${at}/issues/X-1`);
    expect(history).toMatchObject([
      { what: 'phase_reject', author: person },
      { what: 'phase_move', author: person },
      { what: 'phase_move', author: { kind: 'person', name: 'a label' } },
    ]);
  });
});
