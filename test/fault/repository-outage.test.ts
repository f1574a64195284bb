// @module-tag full
import { renameSync } from 'node:fs';
import { expect, it } from 'vitest';
import { daemonHere } from '../cli/baton-here.ts';
import { answer, soon } from '../cli/live-daemon.ts';
import { leaveNoPlaces, Place } from '../cli/run-baton.ts';
import { scratchRepository } from '../workspace/git/scratch-repository.ts';

leaveNoPlaces();

it('a repository that is gone for a while holds no issue; each is worked on once it is back', {
  timeout: 180_000,
}, async () => {
  const place = new Place({});
  const [here, away] = [`${place.folder}/project`, `${place.folder}/elsewhere`];
  scratchRepository(here);
  place.write('home/.gitconfig', '[user]\n\tname = A Person\n\temail = person@example.invalid\n');
  place.write(
    'WORKFLOW.md',
    [
      '---',
      'project: {name: outage}',
      'tracker: {kind: board}',
      'polling: {interval_ms: 300}',
      'workspace: {root: workspaces, repo: project, base: main}',
      'agent: {backend: rehearsal, after_success: review, max_retries: 1}',
      '---',
      '```rehearsal',
      'write greeting.txt',
      '| hello',
      'commit Greet',
      '```',
    ].join('\n'),
  );
  const daemon = await daemonHere(place);
  renameSync(here, away);
  for (const title of ['One', 'Two', 'Three', 'Four']) await answer(place, 'issue', 'add', title);
  await soon(async () => {
    const { status } = await answer(place, 'status');
    expect(status).toMatchObject({ environment: { code: 'repository_unavailable' }, held: [] });
  });
  renameSync(away, here);
  await answer(place, 'issue', 'retry', 'BAT-1');
  for (const issue of ['BAT-1', 'BAT-2', 'BAT-3', 'BAT-4'])
    await soon(async () => {
      const { pull } = await answer(place, 'pr', 'show', issue);
      expect(pull).toMatchObject({ status: 'in_review' });
    });
  expect(await answer(place, 'status')).toMatchObject({ status: { environment: null, held: [] } });
  await daemon.stop();
});
