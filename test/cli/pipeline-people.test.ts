// @module-tag full
import { describe, expect, it } from 'vitest';
import { estimateRuns, fitsIntoLimit } from '../../src/core/pipeline/most-runs.ts';
import { givenText } from '../workflow/given.ts';
import { batonHere, daemonHere } from './baton-here.ts';
import { answer, refusal, soon, untilStatus } from './live-daemon.ts';
import { pipelineScene, promptsOf } from './pipeline-scene.ts';
import { leaveNoPlaces, Place } from './run-baton.ts';

leaveNoPlaces();

describe('people in the pipeline', { timeout: 180_000 }, () => {
  it('see where issues stand, read and replace artifacts, reject, approve and move', async () => {
    const { place } = pipelineScene(['  max_revisions: 0', '  entry: architecture']);
    await answer(place, 'issue', 'add', 'Hard', '--description', 'architecture: vague\narchitecture again: clear');
    const daemon = await daemonHere(place);
    await untilStatus(place, {
      held: [{ code: 'revisions_exhausted', phase: { name: 'architecture', round: 1, waits_for: 'person' } }],
    });
    expect(await answer(place, 'pipeline', 'list')).toMatchObject({
      issues: [{ issue_identifier: 'BAT-1', phase: 'architecture', revisions: 0, waits_for: 'person' }],
    });
    expect(await answer(place, 'explain', 'BAT-1')).toMatchObject({ phase: { name: 'architecture' } });
    expect(await answer(place, 'pipeline', 'artifact', 'BAT-1')).toMatchObject({
      artifact: { phase: 'architecture', version: 1, author: { kind: 'run' }, text: '# Findings\n\nvague\n' },
    });

    expect(await answer(place, 'pipeline', 'reject', 'BAT-1', 'Which', 'files?')).toMatchObject({
      command: { code: 'artifact_rejected', data: { phase: 'architecture', version: 1 } },
    });
    // The agent gets the words, and its next version satisfies the judge.
    await soon(async () => {
      const { issues } = await answer(place, 'pipeline', 'list');
      expect(issues).toMatchObject([{ phase: 'ready' }]);
    });
    expect(promptsOf(place).some(({ phase, prompt }) => phase !== undefined && prompt.includes('Which files?'))).toBe(
      true,
    );
    const { diff } = await answer(place, 'pipeline', 'artifact', 'BAT-1', 'architecture', '--diff');
    expect(diff.files).toMatchObject([{ path: '.baton/architecture.md', added: 1, removed: 1 }]);

    place.write('mine.md', '# Findings\n\nmine\n');
    expect(await answer(place, 'pipeline', 'artifact', 'BAT-1', 'grooming', '--put', 'mine.md')).toMatchObject({
      command: { code: 'artifact_stored', data: { phase: 'grooming', version: 2 } },
    });
    expect((await answer(place, 'pipeline', 'artifact', 'BAT-1', 'grooming')).artifact).toMatchObject({
      version: 2,
      author: { kind: 'person' },
    });
    const refused = await refusal(place, 'pipeline', 'move', 'BAT-1', 'nowhere');
    expect(refused).toMatchObject({ code: 'command_refused', details: { code: 'unknown_phase' } });
    await daemon.stop();

    // Without a daemon people read the same, and commands wait for one.
    expect((await answer(place, 'pipeline', 'list')).issues).toMatchObject([{ phase: 'ready' }]);
    expect(
      (await answer(place, 'pipeline', 'artifact', 'BAT-1', 'architecture', '--version', '1')).artifact,
    ).toMatchObject({ version: 1 });
    expect((await answer(place, 'pipeline', 'approve', 'BAT-1')).command).toMatchObject({ status: 'waiting' });
    expect(await refusal(place, 'pipeline', 'artifact', 'BAT-1', 'nowhere')).toMatchObject({
      code: 'artifact_not_found',
    });
    // A finished issue waits for no agent of its phase.
    await answer(place, 'issue', 'move', 'BAT-1', 'done');
    expect((await batonHere(place, 'explain', 'BAT-1')).stdout).toMatch(/^ {2}\S+ {2}ready$/m);
  });

  it('see the pipeline and its price without a daemon', async () => {
    const { place } = pipelineScene();
    const { pipeline } = await answer(place, 'pipeline', 'show');
    expect(pipeline).toMatchObject({
      phases: [
        { name: 'research', validation: 'structural', judge: null, required_sections: ['Findings'] },
        { name: 'architecture', validation: 'judge', judge: 'default' },
        { name: 'grooming', validation: 'structural' },
      ],
      entry: 'research',
      runs: { usual: 5, limit: 30 },
    });
    const drawn = await batonHere(place, 'pipeline', 'show');
    expect(drawn.stdout.split('\n').map((line) => line.trim().split(' ')[0])).toEqual(
      expect.arrayContaining(['research', 'architecture', 'grooming', 'ready']),
    );
  });
});

describe('baton init --pipeline', () => {
  it('writes the phases of seed 4, whose worst case the default limits allow', async () => {
    using place = new Place();
    expect(await answer(place, 'init', '--pipeline')).toMatchObject({ pipeline: true });
    const { valid, warnings } = await answer(place, 'validate');
    expect({ valid, warnings }).toEqual({ valid: true, warnings: [] });
    const settings = givenText(place.read('WORKFLOW.md')).settings;
    expect(settings.pipeline.phases.map(({ name, validation }) => [name, validation])).toEqual([
      ['research', 'structural'],
      ['architecture', 'judge'],
      ['grooming', 'structural'],
    ]);
    expect(fitsIntoLimit(settings)).toBe(true);
    expect(settings.limits.runsPerIssue).toBeGreaterThan(0);
    // The file names the price.
    expect(place.read('WORKFLOW.md')).toContain(` ${estimateRuns(settings).usual - 1} runs`);
  });

  it('is off otherwise', async () => {
    using place = new Place();
    await answer(place, 'init');
    expect(givenText(place.read('WORKFLOW.md')).settings.pipeline.phases).toEqual([]);
  });
});
