// @module-tag full
import { describe, expect, it } from 'vitest';
import { git } from '../workspace/git/scratch-repository.ts';
import { daemonHere } from './baton-here.ts';
import { answer, runsOf, soon, untilStatus } from './live-daemon.ts';
import { pipelineScene, promptsOf } from './pipeline-scene.ts';
import { leaveNoPlaces } from './run-baton.ts';

leaveNoPlaces();

describe('an issue in the pipeline', { timeout: 180_000 }, () => {
  // @conforms 4.6, 4.44, 4.142, 4.143, pipeline.2
  it('goes through all phases, is sent back once by the judge, and ends in a merged change', async () => {
    const { place, source } = pipelineScene();
    const description = 'research: facts\narchitecture: vague\narchitecture again: clear\ngrooming: steps';
    await answer(place, 'issue', 'add', 'Something big', '--description', description);
    const daemon = await daemonHere(place);
    await soon(async () => {
      const { pull } = await answer(place, 'pr', 'show', 'BAT-1');
      expect(pull).toMatchObject({ status: 'in_review' });
    });
    const runs = await runsOf(place);
    expect(runs.map(({ role, phase, outcome }) => [role, phase, outcome])).toEqual([
      ['phase', 'research', 'succeeded'],
      ['phase', 'architecture', 'succeeded'],
      ['phase_judge', 'architecture', 'succeeded'],
      ['phase', 'architecture', 'succeeded'],
      ['phase_judge', 'architecture', 'succeeded'],
      ['phase', 'grooming', 'succeeded'],
      ['worker', null, 'succeeded'],
    ]);
    const prompts = promptsOf(place);
    // The reasons reach the agent, and the artifacts of earlier phases the later ones.
    expect(prompts[3]?.prompt).toContain('Name the files.');
    expect(prompts.at(-1)?.prompt).toContain('clear');
    expect(prompts.at(-1)?.prompt).not.toContain('# Findings\n\nvague');
    expect((await answer(place, 'pr', 'merge', 'BAT-1')).command).toMatchObject({ code: 'change_merged' });
    // Artifacts stay out of the repository.
    expect(git(source, 'ls-tree', '--name-only', '-r', 'main').split('\n')).toEqual([
      'README.md',
      'src/a.txt',
      'work.txt',
    ]);
    await daemon.stop();
  });

  it('skips to the work when its first phase says so', async () => {
    const { place } = pipelineScene();
    await answer(place, 'issue', 'add', 'A typo', '--description', 'research: trivial > ready');
    const daemon = await daemonHere(place);
    await soon(async () => {
      const { pull } = await answer(place, 'pr', 'show', 'BAT-1');
      expect(pull).toMatchObject({ status: 'in_review' });
    });
    expect((await runsOf(place)).map(({ role }) => role)).toEqual(['phase', 'worker']);
    await soon(async () =>
      expect((await answer(place, 'issue', 'show', 'BAT-1')).issue.labels.toSorted()).toEqual([
        'phase:ready',
        'skip:architecture',
        'skip:grooming',
      ]),
    );
    await daemon.stop();
  });

  it('goes where a person labels it, and its labels are repaired', async () => {
    const { place } = pipelineScene(['  max_revisions: 0']);
    await answer(place, 'issue', 'add', 'Stuck', '--description', 'research: plain', '--label', 'bug');
    place.write('agent.mjs', place.read('agent.mjs').replace('# Findings', '# Nothing'));
    const daemon = await daemonHere(place);
    await untilStatus(place, { held: [{ code: 'revisions_exhausted' }] });
    await soon(async () =>
      expect((await answer(place, 'issue', 'show', 'BAT-1')).issue.labels.toSorted()).toEqual([
        'bug',
        'needs-revision',
        'phase:research',
      ]),
    );
    await answer(place, 'issue', 'edit', 'BAT-1', '--label', 'bug', '--label', 'phase:ready');
    await soon(async () => {
      const { pull } = await answer(place, 'pr', 'show', 'BAT-1');
      expect(pull).toMatchObject({ status: 'in_review' });
    });
    await answer(place, 'issue', 'edit', 'BAT-1', '--label', 'bug');
    await soon(async () =>
      expect((await answer(place, 'issue', 'show', 'BAT-1')).issue.labels.toSorted()).toEqual(['bug', 'phase:ready']),
    );
    expect((await runsOf(place)).map(({ role }) => role)).toEqual(['phase', 'worker']);
    await daemon.stop();
  });

  // @conforms pipeline.2
  it('has its artifacts in the change where agents commit them', async () => {
    const { place, source } = pipelineScene(['  entry: grooming', '  commit_artifacts: true']);
    await answer(place, 'issue', 'add', 'Kept', '--description', 'grooming: steps');
    const daemon = await daemonHere(place);
    await soon(async () => {
      const { pull } = await answer(place, 'pr', 'show', 'BAT-1');
      expect(pull).toMatchObject({ status: 'in_review' });
    });
    expect((await runsOf(place)).map(({ role }) => role)).toEqual(['phase', 'worker']);
    expect((await answer(place, 'pr', 'merge', 'BAT-1')).command).toMatchObject({ code: 'change_merged' });
    expect(git(source, 'show', 'main:.baton/grooming.md')).toBe('# Findings\n\nsteps');
    await daemon.stop();
  });

  it('is completed by the artifact alone, when its agent does not say so', async () => {
    const { place } = pipelineScene(['  entry: grooming']);
    await answer(place, 'issue', 'add', 'Quiet', '--description', 'grooming: silent');
    const daemon = await daemonHere(place);
    await soon(async () => {
      const { pull } = await answer(place, 'pr', 'show', 'BAT-1');
      expect(pull).toMatchObject({ status: 'in_review' });
    });
    expect((await runsOf(place)).map(({ role }) => role)).toEqual(['phase', 'worker']);
    await daemon.stop();
  });
});
