// @module-tag full
import { describe, expect, it } from 'vitest';
import { telling } from '../telling.ts';
import { batonHere as baton, daemonHere } from './baton-here.ts';
import { agent, intakeScene } from './intake-scene.ts';
import { answer, runsOf, soon } from './live-daemon.ts';
import { leaveNoPlaces } from './run-baton.ts';

leaveNoPlaces();

const wishes = ['Export as CSV', 'Dark mode', 'Faster search', 'A help page', 'Undo', 'Shortcuts'];
const notes = `Notes of the meeting\n\n${wishes.map((wish) => `wish: ${wish}`).join('\n')}\n`;

describe('baton intake', { timeout: 240_000 }, () => {
  // @conforms 4.137, budget.2
  it('turns a text into issues after a person said yes, shows a duplicate, and the issues are worked on', async () => {
    const { place } = intakeScene();
    await answer(place, 'issue', 'add', 'Add a dark mode', '--status', 'backlog');
    place.write('notes.md', notes);
    const daemon = await daemonHere(place);
    const { task } = await answer(place, 'intake', 'notes.md', '--wait');
    expect(task).toMatchObject({ status: 'proposed', open: 6, title: 'Intake: Notes of the meeting' });
    expect(task.issues.map(({ title }: { title: string }) => title)).toEqual(wishes);
    expect(task.issues[1]).toMatchObject({ duplicate_of: { identifier: 'BAT-1' } });
    expect(place.read('tools.txt').split(' ').toSorted()).toEqual([
      'propose_issues',
      'report_progress',
      'report_usage',
    ]);
    // Nothing was filed yet, and the checkout of the agent is gone.
    expect((await answer(place, 'issue', 'list')).issues).toHaveLength(1);
    expect((await runsOf(place)).map(({ role, outcome }) => [role, outcome])).toEqual([['intake', 'succeeded']]);

    // One with changes, then the rest; the duplicate is left.
    const [first] = task.issues;
    place.write('edited.json', JSON.stringify({ task: { issues: [{ ...first, title: 'Export as CSV and TSV' }] } }));
    const accepted = await answer(place, 'intake', 'accept', task.id, '--edited', 'edited.json');
    expect(accepted.command.data).toMatchObject({ filed: ['BAT-2'] });
    const rest = await answer(place, 'intake', 'accept', task.id);
    expect(rest.command.data).toMatchObject({ filed: ['BAT-3', 'BAT-4', 'BAT-5', 'BAT-6'] });
    expect((await answer(place, 'intake', 'show', task.id)).task).toMatchObject({ status: 'proposed', open: 1 });
    const shown = await baton(place, 'intake', 'show', task.id);
    expect(shown.stdout).toMatch(/^2\. Dark mode$/m);
    // What a person accepts, all of it.
    expect(shown.stdout).toMatch(/^5\. Undo[\s\S]*^ +priority 1; labels backend, urgent$/m);
    await answer(place, 'intake', 'refuse', task.id, '2');
    expect((await answer(place, 'intake', 'show', task.id)).task).toMatchObject({ status: 'accepted', open: 0 });
    const { issue } = await answer(place, 'issue', 'show', 'BAT-2');
    expect(issue).toMatchObject({ title: 'Export as CSV and TSV' });
    expect(issue.description).toContain('- Export as CSV works');

    for (const name of ['BAT-2', 'BAT-3', 'BAT-4', 'BAT-5', 'BAT-6'])
      await soon(async () =>
        expect((await answer(place, 'issue', 'show', name)).issue).toMatchObject({ status: 'review' }),
      );
    expect((await runsOf(place)).filter(({ role }) => role === 'worker')).toHaveLength(5);
    // The next one says before it begins what the day has cost.
    const next = await baton(place, 'intake', 'notes.md');
    expect(next.stderr).toEqual(telling(1, 3, 'intake.runs_per_day', 'limits.usd_per_day'));
    await daemon.stop();
    expect(place.pids()).toEqual([]);
  });

  it('fails when its agent does, keeps the text, and is tried again with one command', async () => {
    const { place } = intakeScene();
    place.write('notes.md', 'Notes\nwish: CRASH\n');
    const daemon = await daemonHere(place);
    const failed = await baton(place, 'intake', 'notes.md', '--wait', '--json');
    const { task } = JSON.parse(failed.stdout);
    expect([failed.code, task]).toMatchObject([1, { status: 'failed', text: 'Notes\nwish: CRASH' }]);
    place.replace('agent.mjs', agent.replace("prompt.includes('CRASH')", 'false'));
    expect((await answer(place, 'intake', 'retry', task.id)).command).toMatchObject({ code: 'task_waits' });
    await soon(async () =>
      expect((await answer(place, 'intake', 'show', task.id)).task).toMatchObject({ status: 'proposed', open: 1 }),
    );
    const { tasks } = await answer(place, 'intake', 'list');
    expect(tasks).toMatchObject([{ id: task.id, status: 'proposed' }]);
    await daemon.stop();
  });

  it('refuses a file that it cannot use, with a code', async () => {
    const { place } = intakeScene();
    const missing = await baton(place, 'intake', 'nothing.md', '--json');
    expect([missing.code, JSON.parse(missing.stdout).error]).toMatchObject([1, { code: 'usage_error' }]);
    place.write('empty.md', '\n');
    const daemon = await daemonHere(place);
    const empty = await baton(place, 'intake', 'empty.md', '--json');
    expect(empty.code).not.toBe(0);
    const unknown = await baton(place, 'intake', 'show', 'intake:nothing', '--json');
    expect(JSON.parse(unknown.stdout).error).toMatchObject({ code: 'task_not_found' });
    await daemon.stop();
  });
});
