// @module-tag full
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { batonHere } from '../cli/baton-here.ts';
import { soon } from '../cli/live-daemon.ts';
import { baton, jsonLines, leaveNoPlaces, Place, startBaton } from '../cli/run-baton.ts';

leaveNoPlaces();

const atSpeed = { BATON_REHEARSAL_SPEED: '10' };
const where = ['--workflow', 'demo/WORKFLOW.md', '--state-dir', 'demo/state'];

describe('a folder with a demo of another version of Baton', () => {
  // @conforms dashboard.43
  it('is moved aside and kept, and a new demo starts that also runs an issue filed by a person', async () => {
    using place = new Place(atSpeed);
    place.write('demo/.baton-demo', 'A folder of `baton demo`. It may be removed when no demo runs.\n');
    place.write('demo/WORKFLOW.md', 'of another time');
    const demo = startBaton(place, 'demo', '--dir', 'demo');
    const kept = path.join(place.folder, 'demo-finished-1');
    await soon(() => expect(demo.stdout()).toContain(` ${kept}\n`));
    expect(place.read('demo-finished-1/WORKFLOW.md')).toBe('of another time');
    await soon(() => expect(demo.stdout()).toMatch(/^\d\d:\d\d:\d\d WORDS-2 /m));

    // While it runs, a second one names its dashboard, and takes its folder away neither with --fresh nor for its mark.
    const [, dashboard = ''] = /(http:\/\/127\.0\.0\.1:\d+)\s/.exec(demo.stdout()) ?? [];
    const details = { problem: 'other_demo_running', folder: path.join(place.folder, 'demo'), dashboard };
    const refuses = async (...args: string[]): Promise<void> => {
      const other = await baton(place, 'demo', '--json', '--dir', 'demo', ...args);
      expect(other.code).toBe(1);
      expect(jsonLines(other.stdout)).toMatchObject([{ error: { code: 'demo_failed', details } }]);
    };
    await refuses();
    await refuses('--fresh');
    place.write('demo/.baton-demo', 'another mark');
    await refuses('--once');

    const title = 'Sing `a` "song" $(touch owned)';
    const filed = await baton(place, 'issue', 'add', title, '--priority', '1', ...where);
    expect(filed).toMatchObject({ code: 0 });
    // Who files an issue also reviews its change.
    await soon(() => expect(demo.stdout()).toMatch(/ review WORDS-11 --workflow /));
    await soon(async () =>
      expect(await batonHere(place, 'pr', 'merge', 'WORDS-11', ...where)).toMatchObject({ code: 0 }),
    );
    await soon(() => expect(demo.stdout()).toContain(' WORDS-11 done'));
    const show = ['-C', path.join(place.folder, 'demo/project'), 'show', 'main:notes/words-11.md'];
    expect(execFileSync('git', show, { encoding: 'utf8' })).toContain(`# ${title}\n`);
    demo.child.kill('SIGINT');
    expect(await demo.ended).toMatchObject({ code: 0, stderr: '' });

    // One that is not finished stays, unless a new one is wanted.
    const fresh = startBaton(place, 'demo', '--json', '--fresh', '--dir', 'demo');
    await soon(() =>
      expect(jsonLines(fresh.stdout())).toContainEqual(expect.objectContaining({ identifier: 'WORDS-2' })),
    );
    expect(place.read('demo-finished-2/.baton-demo')).toBe('another mark');
    fresh.child.kill('SIGINT');
    const ended = await fresh.ended;
    expect(jsonLines(ended.stdout).at(-1)).toMatchObject({ summary: { issues: 10, done: 0 } });
    expect(place.pids()).toEqual([]);
  }, 180_000);
});
