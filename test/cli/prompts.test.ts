// @module-tag full
import { describe, expect, it } from 'vitest';
import { getsSecondPrompt } from '../../src/core/prompt/choose-prompt.ts';
import { git, scratchRepository } from '../workspace/git/scratch-repository.ts';
import { batonHere, daemonHere } from './baton-here.ts';
import { answer, refusal, rehearsal, soon } from './live-daemon.ts';
import { leaveNoPlaces, Place } from './run-baton.ts';

leaveNoPlaces();

const issues = 16;

/** Agents that carry out their prompt: the second one tells each to fail. */
function project(): Place {
  const place = new Place({});
  const source = scratchRepository(`${place.folder}/project`);
  git(source, 'checkout', '--quiet', '--detach');
  place.write('home/.gitconfig', '[user]\n\tname = A Person\n\temail = person@example.invalid\n');
  place.write('project/prompts/b.md', rehearsal('spend 3000', 'fail the second prompt is bad'));
  place.write(
    'project/WORKFLOW.md',
    [
      '---',
      'project: {name: prompts}',
      'tracker: {kind: board}',
      'polling: {interval_ms: 300}',
      'workspace: {root: ../workspaces, repo: ., base: main}',
      'agent: {backend: rehearsal, isolation: none, after_success: review, max_retries: 1}',
      'second_prompt: {file: prompts/b.md, share: 50}',
      '---',
      rehearsal('write work.txt', '| {{ issue.identifier }}', 'spend 1000', 'commit Work'),
    ].join('\n'),
  );
  return place;
}

const where = ['--workflow', 'project/WORKFLOW.md'] as const;

describe('two prompts', { timeout: 180_000 }, () => {
  // @conforms 4.131, 4.131b
  it('each go to their share of the issues, are measured by version, and are compared', async () => {
    using place = project();
    for (let number = 1; number <= issues; number += 1)
      await answer(place, 'issue', 'add', `Issue ${number}`, '--description', 'Do it.', ...where);
    const daemon = await daemonHere(place, 'project/WORKFLOW.md');
    await soon(async () => {
      const { status } = await answer(place, 'status', ...where);
      expect(status.counts).toMatchObject({ running: 0 });
      expect((await answer(place, 'runs', 'list', ...where)).runs).toHaveLength(issues);
    });
    const { runs } = await answer(place, 'runs', 'list', ...where);
    const listed = await answer(place, 'prompts', 'list', ...where);
    const [first, second] = listed.in_use;
    expect([first.source, second.source, first.share, second.share]).toEqual(['WORKFLOW.md', 'prompts/b.md', 50, 50]);
    const seconds = runs.filter((run: { issue_id: string }) => getsSecondPrompt(run.issue_id, 50));
    expect(seconds.length).toBeGreaterThan(0);
    expect(seconds.length).toBeLessThan(issues);
    for (const run of runs) {
      const expected = getsSecondPrompt(run.issue_id, 50) ? second : first;
      expect([run.prompt_version, run.prompt_source]).toEqual([expected.version, expected.source]);
    }
    const measured = (version: string) => listed.prompts.find((each: { version: string }) => each.version === version);
    const [good, bad] = [issues - seconds.length, seconds.length];
    expect(measured(first.version)).toMatchObject({ role: 'worker', agent: 'default', runs: good });
    expect(measured(first.version).success).toMatchObject({ count: good, of: good, high: 1 });
    expect(measured(second.version).success).toMatchObject({ count: 0, of: bad, low: 0 });

    const { differences, same_time: sameTime, a, b } = await answer(place, 'prompts', 'compare', ...where);
    expect([a.version, b.version, sameTime]).toEqual([first.version, second.version, true]);
    expect(differences).toMatchObject({ sent_back: 'too_few', to_merge_ms: 'too_few' });
    const { stdout } = await batonHere(place, 'prompts', 'compare', ...where);
    expect(stdout).toContain(first.version.slice(0, 8));
    const unknown = await refusal(place, 'prompts', 'compare', 'ffff0000', ...where);
    expect(unknown).toMatchObject({ code: 'prompt_not_found' });
    await daemon.stop();
    // Without a daemon the store knows the same.
    expect((await answer(place, 'prompts', 'list', ...where)).prompts).toEqual(listed.prompts);
  });

  // @conforms 4.131b
  it('are files that control agents: a branch that changes one is marked', async () => {
    using place = project();
    place.write(
      'project/prompts/b.md',
      rehearsal('write prompts/b.md', '| Obey me.', 'commit A better prompt', 'move review'),
    );
    git(`${place.folder}/project`, 'add', '-A');
    git(`${place.folder}/project`, 'commit', '--quiet', '-m', 'prompts');
    git(`${place.folder}/project`, 'branch', '--force', 'main', 'HEAD');
    place.write('project/WORKFLOW.md', place.read('project/WORKFLOW.md').replace('share: 50', 'share: 100'));
    await answer(place, 'issue', 'add', 'One', '--description', 'Do it.', ...where);
    const daemon = await daemonHere(place, 'project/WORKFLOW.md');
    await soon(async () => {
      const { run } = await answer(place, 'runs', 'show', 'BAT-1', ...where);
      expect(run.workspace_evidence?.publication).toMatchObject({ governing: ['prompts/b.md'] });
    });
    await daemon.stop();
  });
});
