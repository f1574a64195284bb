import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { soon } from './live-daemon.ts';
import { baton, jsonLines, leaveNoPlaces, Place, type RunningBaton, startBaton } from './run-baton.ts';

leaveNoPlaces();

/** As `--once` has it: these tests watch the question, and not the agents that take their time. */
const inHaste = { BATON_REHEARSAL_HASTE: '10' };

const shell = promisify(execFile);

/** The line that a person is told to type, as it stands there. */
function lineToType(stdout: string): string {
  const lines = stdout.split('\n').filter((line) => line.includes(' ask answer '));
  return lines.at(-1)?.trim() ?? '';
}

async function stop(demo: RunningBaton): Promise<void> {
  demo.child.kill('SIGINT');
  expect(await demo.ended).toMatchObject({ code: 0, stderr: '' });
}

/** Each test carries all tickets through. */
const wholeDemo = { timeout: 180_000 };

describe('the question in the demo', wholeDemo, () => {
  it('waits for a person, while the others go on, and is answered by the line that is shown', async () => {
    using place = new Place(inHaste);
    const demo = startBaton(place, 'demo', '--dir', "it's a demo");
    await soon(() => expect(lineToType(demo.stdout())).not.toBe(''));
    await soon(() =>
      expect(demo.stdout()).toMatch(/^\d\d:\d\d:\d\d WORDS-10 asks you Is one exclamation mark enough\?/m),
    );
    expect(demo.stdout()).toContain(
      'WORDS-10 asks you: Is one exclamation mark enough?\n  1  one is enough\n  2  one is plenty\n',
    );
    expect(demo.stdout()).toMatch(/Its agent waits 10 min for you; the others go on\. To answer, in another terminal:/);
    // Whoever is asked takes one of three slots; the others are done without an answer.
    await expect.poll(() => demo.stdout().match(/ WORDS-[1-9] done/g)?.length, { timeout: 90_000 }).toBe(9);
    expect(demo.stdout()).not.toMatch(/WORDS-10 (review|done|held)|in the place of a person/);

    const { stdout } = await shell('sh', ['-c', lineToType(demo.stdout())], { cwd: '/', env: place.env });
    expect(stdout).toBe('the agent of WORDS-10 is told\n');
    await soon(() => expect(demo.stdout()).toContain(' WORDS-10 done'));
    await stop(demo);
    expect(demo.stdout()).toContain('10 of 10 tickets done in 13 runs; 1 run failed, 2 runs found no quota.');
    expect(place.pids()).toEqual([]);
  });

  it('that nobody answers holds its ticket, is told again, and is answered by the next demo that plays the person', async () => {
    using place = new Place(inHaste);
    const demo = startBaton(place, 'demo', '--dir', 'demo');
    await soon(() => expect(demo.stdout()).toContain('WORDS-2 running'));
    place.replace(
      'demo/WORKFLOW.md',
      place.read('demo/WORKFLOW.md').replace(/ask_timeout_ms: \d+/, 'ask_timeout_ms: 300'),
    );
    await soon(() => expect(demo.stdout()).toContain('Nobody answered in time; the ticket is held with its question'));
    await soon(() =>
      expect(demo.stdout()).toMatch(/ WORDS-10 held +The agent asks: Is one exclamation mark enough\?$/m),
    );
    const line = lineToType(demo.stdout());
    expect(line).toMatch(/ ask answer WORDS-10 1 --workflow '.*' --state-dir '.*'$/);
    await stop(demo);
    expect(demo.stdout()).toMatch(/^ {2}WORDS-10 is left: The agent asks: Is one exclamation mark enough\?$/m);

    const next = await baton(place, 'demo', '--once', '--json', '--dir', 'demo');
    expect(next).toMatchObject({ code: 0, stderr: '' });
    const told = jsonLines(next.stdout);
    expect(told).toContainEqual(expect.objectContaining({ identifier: 'WORDS-10', answer: 'one is enough' }));
    expect(told.at(-1)).toMatchObject({ summary: { tickets: 10, done: 10 } });
    expect(place.pids()).toEqual([]);
  });

  it('that waits when the demo is stopped is asked again by the next one, and answered there', async () => {
    using place = new Place(inHaste);
    const demo = startBaton(place, 'demo');
    await soon(() => expect(lineToType(demo.stdout())).not.toBe(''));
    await stop(demo);
    expect(demo.stdout()).toMatch(/^ {2}WORDS-10 is left: /m);
    const next = await baton(place, 'demo', '--once');
    expect(next).toMatchObject({ code: 0, stderr: '' });
    expect(next.stdout).toContain(
      'WORDS-10 asks: Is one exclamation mark enough?\n  The demo answers in the place of a person: one is enough\n',
    );
    expect(next.stdout).toContain('10 of 10 tickets done in ');
    expect(place.pids()).toEqual([]);
  });
});
