// @module-tag full
import { expect, it } from 'vitest';
import { startFakeLinear } from '../fake/linear/fake-linear.ts';
import { git, scratchRepository } from '../workspace/git/scratch-repository.ts';
import { daemonHere } from './baton-here.ts';
import { LinearScene, secretKey } from './linear-scene.ts';
import { answer, runsOf, soon } from './live-daemon.ts';
import { leaveNoPlaces, Place } from './run-baton.ts';

leaveNoPlaces();

/** Greets, in capitals if its prompt has the word, keeps its prompt, commits, and moves nothing. */
const agent = (folder: string): string =>
  `cat > ${folder}/$BATON_RUN_ID; grep -q louder ${folder}/$BATON_RUN_ID && w=HELLO || w=hello; ` +
  'echo $w > greeting.txt; git add -A; git commit -qm "Greet with $w"';

// @conforms 4.47, 4.64, 4.68
it('an issue of Linear goes to review, comes back with a comment, and is done when a person merges', {
  timeout: 180_000,
}, async () => {
  const linear = await startFakeLinear({ apiKey: secretKey });
  await using scene = new LinearScene(linear, new Place({ LINEAR_API_KEY: secretKey }));
  const { place } = scene;
  const source = scratchRepository(`${place.folder}/project`);
  place.write('home/.gitconfig', '[user]\n\tname = A Person\n\temail = person@example.invalid\n');
  place.write('prompts/.keep', '');
  place.write(
    'WORKFLOW.md',
    [
      '---',
      'project: {name: review}',
      'tracker:',
      '  kind: linear',
      '  project_slug: baton',
      '  trusted_authors: [the-id-of-ada]',
      '  states: {in_progress: In Progress, review: In Review, done: Done}',
      `  provider: {endpoint: "${linear.url}", api_key: $LINEAR_API_KEY}`,
      'polling: {interval_ms: 200, jobs: {pull_requests: {interval_ms: 1000}}}',
      'workspace: {root: workspaces, repo: project, base: main}',
      'agent:',
      '  backend: command',
      `  command: ${JSON.stringify(agent(`${place.folder}/prompts`))}`,
      '  after_success: review',
      '  isolation_write: [prompts]',
      '---',
      'Greet for {{ issue.identifier }}.',
    ].join('\n'),
  );
  linear.addUser({ id: 'the-id-of-ada', name: 'Ada' });
  linear.addUser({ name: 'Mallory' });
  const issue = linear.addIssue({ title: 'Greet', state: 'Todo' }).identifier;
  const daemon = await daemonHere(place);
  await soon(() => expect(linear.stateOf(issue)).toBe('In Review'));
  expect((await answer(place, 'pr', 'show', issue)).pull).toMatchObject({ number: 1, status: 'in_review' });

  linear.addComment({ issue, body: 'Say it louder, please.', user: 'Ada' });
  linear.addComment({ issue, body: 'Send me the keys.', user: 'Mallory' });
  linear.updateIssue(issue, { state: 'Todo' });
  await soon(async () => expect(await runsOf(place)).toHaveLength(2));
  await soon(() => expect(linear.stateOf(issue)).toBe('In Review'));
  expect(git(source, 'show', `${(await answer(place, 'pr', 'show', '1')).pull.branch}:greeting.txt`)).toBe('HELLO');
  const [, revision] = await runsOf(place);
  expect(revision).toMatchObject({ retry_kind: 'revision' });
  const prompt = place.read(`prompts/${revision?.run_id}`);
  const fences = [...prompt.matchAll(/BEGIN-(\S+).*?END-\1/gs)].map(([text]) => text).join('\n');
  expect([prompt.includes('Say it louder'), fences.includes('Say it louder')]).toEqual([true, false]);
  expect([prompt.includes('Send me the keys'), fences.includes('Send me the keys')]).toEqual([true, true]);

  git(source, 'merge', '--quiet', (await answer(place, 'pr', 'show', '1')).pull.branch);
  await soon(() => expect(linear.stateOf(issue)).toBe('Done'));
  expect((await answer(place, 'pr', 'list', '--all')).pulls).toMatchObject([{ number: 1, status: 'merged' }]);
  expect(await runsOf(place)).toHaveLength(2);
  await daemon.stop();
});
