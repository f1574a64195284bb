// @module-tag full
import { expect, it } from 'vitest';
import { git } from '../workspace/git/scratch-repository.ts';
import { daemonHere } from './baton-here.ts';
import { intakeScene } from './intake-scene.ts';
import { answer, runsOf, soon } from './live-daemon.ts';
import { leaveNoPlaces } from './run-baton.ts';

leaveNoPlaces();

const wishes = ['Export as CSV', 'Dark mode', 'Faster search', 'A help page', 'Undo'];

// biome-ignore lint/suspicious/noExplicitAny: each line checks the part it is about.
type Answer = any;

// @conforms intake.1
it('brings a text to merged changes: a person accepts, a planner splits one issue, its parts unblock it', {
  timeout: 240_000,
}, async () => {
  const { place, source } = intakeScene('planner: {enabled: true, runs_per_day: 1}');
  await answer(place, 'issue', 'add', 'Add a dark mode', '--status', 'backlog');
  place.write('notes.md', `Notes of the meeting\n\n${wishes.map((wish) => `wish: ${wish}`).join('\n')}\n`);
  const daemon = await daemonHere(place);
  const issues = async (): Promise<readonly Answer[]> => (await answer(place, 'issue', 'list')).issues;

  const { task } = await answer(place, 'intake', 'notes.md', '--wait');
  expect(task.issues.map(({ title, duplicate_of: of }: Answer) => [title, of?.identifier ?? null])).toEqual(
    wishes.map((wish) => [wish, wish === 'Dark mode' ? 'BAT-1' : null]),
  );
  expect(await issues()).toHaveLength(1);

  // The person gives the first one to the planner, takes the others, and refuses the duplicate.
  place.write('edited.json', JSON.stringify({ task: { issues: [{ ...task.issues[0], labels: ['needs-planning'] }] } }));
  const edited = await answer(place, 'intake', 'accept', task.id, '--edited', 'edited.json');
  expect(edited.command.data.filed).toEqual(['BAT-2']);
  const rest = await answer(place, 'intake', 'accept', task.id);
  expect(rest.command.data.filed).toHaveLength(3);
  await answer(place, 'intake', 'refuse', task.id, '2');
  expect((await answer(place, 'intake', 'show', task.id)).task).toMatchObject({ status: 'accepted', open: 0 });

  // They merge whatever is in review, until nothing is left but the issue that was there before.
  const merged: string[] = [];
  await soon(async () => {
    for (const { identifier, status } of await issues()) {
      if (status !== 'review') continue;
      const { pull } = await answer(place, 'pr', 'show', identifier);
      expect((await answer(place, 'pr', 'merge', `${pull.number}`)).command).toMatchObject({ code: 'change_merged' });
      merged.push(identifier);
    }
    expect(merged).toHaveLength(6);
  });
  await soon(async () => {
    const statuses = (await issues()).map(({ title, status }) => [title, status]);
    const done = ['Export as CSV', 'Faster search', 'A help page', 'Undo', 'Lay the ground', 'Build on it'];
    expect(statuses.toSorted()).toEqual(
      [['Add a dark mode', 'backlog'], ...done.map((title) => [title, 'done'])].toSorted(),
    );
  });

  // The parent waited for its parts, and the second part for the first.
  const nameOf = Object.fromEntries((await issues()).map(({ title, identifier }) => [title, identifier]));
  const order = ['Lay the ground', 'Build on it', 'Export as CSV'].map((title) => merged.indexOf(nameOf[title]));
  expect(order).toEqual(order.toSorted((one, other) => one - other));
  for (const name of merged) expect(git(source, 'show', `main:work-${name}.txt`)).not.toBe('');
  const roles = (await runsOf(place)).map(({ role, outcome }) => `${role} ${outcome}`).toSorted();
  expect(roles).toEqual(['intake succeeded', 'planner succeeded', ...Array(6).fill('worker succeeded')]);
  await daemon.stop();
  expect(place.pids()).toEqual([]);
});
