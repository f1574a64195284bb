// @module-tag full
import { expect, it } from 'vitest';
import { startFakeLinear } from '../fake/linear/fake-linear.ts';
import { daemonHere } from './baton-here.ts';
import { LinearScene, secretKey } from './linear-scene.ts';
import { runsOf, soon } from './live-daemon.ts';
import { pipelineScene } from './pipeline-scene.ts';
import { leaveNoPlaces, Place } from './run-baton.ts';

leaveNoPlaces();

// @conforms 4.7, 4.8
it('an issue of Linear gets the labels of its phases, and goes where a person labels it', {
  timeout: 180_000,
}, async () => {
  const linear = await startFakeLinear({ apiKey: secretKey });
  const { place } = pipelineScene(['  max_revisions: 0'], new Place({ LINEAR_API_KEY: secretKey }));
  await using _scene = new LinearScene(linear, place);
  const provider = `provider: {endpoint: "${linear.url}", api_key: $LINEAR_API_KEY}`;
  const states = 'states: {in_progress: In Progress, review: In Review, done: Done}';
  const tracker = `tracker: {kind: linear, project_slug: baton, ${states}, ${provider}}`;
  place.write('WORKFLOW.md', place.read('WORKFLOW.md').replace('tracker: {kind: board}', tracker));
  // Baton creates no labels in Linear, and does without the one of the first phase.
  for (const name of ['architecture', 'grooming', 'ready']) linear.addTeamLabel('BAT', `phase:${name}`);
  linear.addTeamLabel('BAT', 'needs-revision');
  // The judge rejects the second artifact, and a person decides.
  const description = 'research: facts\narchitecture: vague\ngrooming: steps';
  const issue = linear.addIssue({ title: 'Something big', description, state: 'Todo', labels: ['bug'] }).identifier;
  const untouched = linear.addIssue({ title: 'Later', state: 'Backlog' }).identifier;
  const daemon = await daemonHere(place);
  await soon(() => expect(linear.labelsOf(issue)).toEqual(['bug', 'needs-revision', 'phase:architecture']));
  expect((await runsOf(place)).map(({ role }) => role)).toEqual(['phase', 'phase', 'phase_judge']);
  linear.updateIssue(issue, { labels: ['bug', 'phase:grooming'] });
  await soon(() => expect(linear.stateOf(issue)).toBe('In Review'));
  await soon(() => expect(linear.labelsOf(issue)).toEqual(['bug', 'phase:ready']));
  expect((await runsOf(place)).map(({ role, phase }) => phase ?? role)).toEqual([
    'research',
    'architecture',
    'architecture',
    'grooming',
    'worker',
  ]);
  expect([linear.labelsOf(untouched), linear.complaints]).toEqual([[], []]);
  await daemon.stop();
});
