// @module-tag full
import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { telling } from '../telling.ts';
import { batonHere as baton, batonWithInput, daemonHere } from './baton-here.ts';
import { agent, intakeScene } from './intake-scene.ts';
import { answer, runsOf, soon, startDaemon, stateFolderOf, stopDaemon } from './live-daemon.ts';
import { leaveNoPlaces, type Place } from './run-baton.ts';

leaveNoPlaces();

const wishes = ['Export as CSV', 'Dark mode', 'Faster search', 'A help page', 'Undo', 'Shortcuts'];
const notes = `Notes of the meeting\n\n${wishes.map((wish) => `wish: ${wish}`).join('\n')}\n`;

/** The checkouts of agents that read and propose. */
const checkouts = (place: Place): string[] => globSync('git/scratch/*', { cwd: stateFolderOf(place) });

/** The processes of agents. */
const agents = (place: Place): number[] =>
  place.pids().filter((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('agent.mjs'));

describe('baton intake', { timeout: 240_000 }, () => {
  // @conforms 4.137, budget.2, intake.2
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
    await soon(async () => {
      expect((await runsOf(place)).map(({ role, outcome }) => [role, outcome])).toEqual([['intake', 'succeeded']]);
    });
    expect(checkouts(place)).toEqual([]);

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
    await answer(place, 'issue', 'add', 'Add a dark mode', '--status', 'backlog');
    const daemon = await daemonHere(place);
    const text = 'Notes\nwish: CRASH\nwish: Dark mode\n';
    const failed = await batonWithInput(place, text, 'intake', '-', '--wait', '--json');
    const { task } = JSON.parse(failed.stdout);
    expect([failed.code, task]).toMatchObject([1, { status: 'failed', text: text.trim() }]);
    place.replace('agent.mjs', agent.replace("prompt.includes('CRASH')", 'false'));
    expect((await answer(place, 'intake', 'retry', task.id)).command).toMatchObject({ code: 'task_waits' });
    await soon(async () =>
      expect((await answer(place, 'intake', 'show', task.id)).task).toMatchObject({ status: 'proposed', open: 2 }),
    );
    const { tasks } = await answer(place, 'intake', 'list');
    expect(tasks).toMatchObject([{ id: task.id, status: 'proposed' }]);
    // Without the flag the duplicate is left.
    await answer(place, 'intake', 'refuse', task.id, '1');
    expect((await answer(place, 'intake', 'accept', task.id)).command.data).toMatchObject({ filed: [] });
    const accepted = await answer(place, 'intake', 'accept', task.id, '--duplicates');
    expect(accepted.command.data).toMatchObject({ filed: ['BAT-2'] });
    await daemon.stop();
  });

  // @conforms 4.58
  it('fails when its daemon is killed: nothing of its agent is left, and one command tries it again', async () => {
    const { place } = intakeScene();
    place.write('notes.md', 'Notes\nwish: HANG\n');
    const first = await startDaemon(place);
    const { task: id } = (await answer(place, 'intake', 'notes.md')).command.data;
    await soon(() => expect(place.read('at-work.txt')).toBe('yes'));
    expect([agents(place).length, checkouts(place).length]).toEqual([expect.toSatisfy((count) => count > 0), 1]);
    first.child.kill('SIGKILL');
    await first.ended;

    const next = await startDaemon(place);
    const shown = async () => (await answer(place, 'intake', 'show', id)).task;
    await soon(async () =>
      expect(await shown()).toMatchObject({ status: 'failed', error: { code: 'orchestrator_restarted' } }),
    );
    await soon(() => expect([agents(place), checkouts(place)]).toEqual([[], []]));
    place.replace('agent.mjs', agent.replace("prompt.includes('HANG')", 'false'));
    await answer(place, 'intake', 'retry', id);
    await soon(async () => expect(await shown()).toMatchObject({ status: 'proposed', open: 1 }));
    await stopDaemon(next);
    expect([place.pids(), checkouts(place)]).toEqual([[], []]);
  });

  // @conforms intake.3
  it('says what keeps a text from its agent', async () => {
    const { place } = intakeScene();
    place.write('notes.md', 'Notes\nwish: Undo\n');
    const daemon = await daemonHere(place);
    await answer(place, 'pause');
    const { task: id } = (await answer(place, 'intake', 'notes.md')).command.data;
    await soon(async () =>
      expect((await answer(place, 'intake', 'show', id)).task).toMatchObject({
        ...{ status: 'waiting', is_running: false, waits_for: { code: 'paused' } },
      }),
    );
    const waits = await baton(place, 'intake', 'show', id);
    const { waits_for } = (await answer(place, 'intake', 'show', id)).task;
    expect(waits.stdout).toContain(waits_for.text);
    await answer(place, 'resume');
    await soon(async () =>
      expect((await answer(place, 'intake', 'show', id)).task).toMatchObject({ status: 'proposed', waits_for: null }),
    );
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
