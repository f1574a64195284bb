// @module-tag full
import { describe, expect, it } from 'vitest';
import { scratchRepository } from '../workspace/git/scratch-repository.ts';
import { daemonHere } from './baton-here.ts';
import { answer, soon } from './live-daemon.ts';
import { leaveNoPlaces, Place } from './run-baton.ts';

leaveNoPlaces();

describe('an agent that calls create_pr', { timeout: 120_000 }, () => {
  // @conforms 4.139
  it('gives the pull request its title and description; its commit after the call is in it too', async () => {
    const place = new Place({});
    scratchRepository(`${place.folder}/project`);
    place.write('home/.gitconfig', '[user]\n\tname = A Person\n\temail = person@example.invalid\n');
    place.write(
      'WORKFLOW.md',
      [
        '---',
        'project: {name: review}',
        'tracker: {kind: board}',
        'polling: {interval_ms: 300}',
        'workspace: {root: workspaces, repo: project, base: main}',
        'agent: {backend: rehearsal, after_success: review}',
        '---',
        '```rehearsal',
        'write greeting.txt',
        '| hello',
        'commit Greet',
        'propose Greet the user',
        '| Why: asked for.',
        'append greeting.txt',
        '| world',
        'commit Greet the world',
        'say Both are greeted.',
        '```',
      ].join('\n'),
    );
    await answer(place, 'issue', 'add', 'Say hello');
    const daemon = await daemonHere(place);
    await soon(async () => {
      const { pull } = await answer(place, 'pr', 'show', 'BAT-1');
      expect(pull).toMatchObject({ title: 'Greet the user', body: 'Why: asked for.', status: 'in_review' });
    });
    const { diff } = await answer(place, 'pr', 'diff', 'BAT-1');
    expect(diff.files).toMatchObject([{ path: 'greeting.txt', added: 2 }]);
    await daemon.stop();
  });
});
