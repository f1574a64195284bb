// @module-tag full

import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { answer, soon } from '../cli/live-daemon.ts';
import { baton, jsonLines, leaveNoPlaces, Place, type RunningBaton, startBaton } from '../cli/run-baton.ts';

leaveNoPlaces();

/** As `--once` has it: these tests watch the question, and not the agents that take their time. */
const atSpeed = { BATON_REHEARSAL_SPEED: '10' };

const shell = promisify(execFile);

/** The line that a person is told to type, as it stands there. */
const program = fileURLToPath(new URL('../../bin/baton', import.meta.url));

function lineToType(stdout: string): string {
  const lines = stdout.split('\n').filter((line) => line.includes(' ask answer '));
  // The build that tests start is named as an installed one; here it is not on the PATH.
  return (
    lines
      .at(-1)
      ?.trim()
      .replace(/^baton /, `${program} `) ?? ''
  );
}

/** A name that a shell does not take as it is. */
const folder = "it's a demo";

async function doneIn(place: Place): Promise<string[]> {
  const where = ['--workflow', `${folder}/WORKFLOW.md`, '--state-dir', `${folder}/state`];
  const { issues } = await answer(place, 'issue', 'list', ...where);
  return issues
    .filter(({ status }: { status: string }) => status === 'done')
    .map(({ identifier }: { identifier: string }) => identifier);
}

/** The last of what a demo with `--json` has told that has all of these. */
function lastWith(demo: RunningBaton, wanted: Record<string, unknown>): Record<string, unknown> | undefined {
  const told = jsonLines(demo.stdout().slice(0, demo.stdout().lastIndexOf('\n') + 1));
  return told.findLast((row) => Object.entries(wanted).every(([name, value]) => row[name] === value));
}

/** How often the demo has printed the command that reviews the change of this issue. */
function reviewsOf(demo: RunningBaton, issue: string): number {
  return demo.stdout().split(` review ${issue} --workflow `).length - 1;
}

async function stop(demo: RunningBaton): Promise<void> {
  demo.child.kill('SIGINT');
  expect(await demo.ended).toMatchObject({ code: 0, stderr: '' });
}

const inDemo = ['--workflow', 'demo/WORKFLOW.md', '--state-dir', 'demo/state'];

/** Each test carries all issues through. */
const wholeDemo = { timeout: 300_000 };

describe.concurrent('the question of the demo', wholeDemo, () => {
  // @conforms runs.49, dashboard.53
  it('waits for a person while other agents continue, and is answered by the printed command', async () => {
    using place = new Place(atSpeed);
    const demo = startBaton(place, 'demo', '--dir', folder);
    await soon(() => expect(lineToType(demo.stdout())).not.toBe(''));
    await soon(() =>
      expect(demo.stdout()).toMatch(/^\d\d:\d\d:\d\d WORDS-10 .*Shall I start, or read all of the code first\?/m),
    );
    expect(demo.stdout()).toMatch(
      /^WORDS-10 .*: Shall I start, or read all of the code first\?\n {2}1 {2}start\n {2}2 {2}read the code first\n.* 10 min /m,
    );
    // An agent that asks takes one of three slots; the others are done without an answer, or wait for a review.
    for (const number of [1, 2, 4, 5, 7, 8, 9])
      await soon(() => expect(demo.stdout()).toMatch(new RegExp(`^\\S+ WORDS-${number} done$`, 'm')));
    expect(await doneIn(place)).not.toContain('WORDS-10');

    // Two changes are left to the person, and the demo says so, in each round.
    for (const issue of ['WORDS-3', 'WORDS-6']) await soon(() => expect(reviewsOf(demo, issue)).toBe(1));
    const there = ['--workflow', `${folder}/WORKFLOW.md`, '--state-dir', `${folder}/state`];
    await answer(place, 'pr', 'send-back', 'WORDS-6', 'Say it louder.', ...there);
    await answer(place, 'pr', 'merge', 'WORDS-3', ...there);
    await soon(() => expect(reviewsOf(demo, 'WORDS-6')).toBe(2));
    const { pull } = await answer(place, 'pr', 'show', 'WORDS-6', ...there);
    expect(pull.rounds[0].said).toMatchObject([{ body: 'Say it louder.', status: 'delivered' }]);

    await shell('sh', ['-c', lineToType(demo.stdout())], { cwd: '/', env: place.env });
    await soon(async () => expect(await doneIn(place)).toContain('WORDS-10'));
    await stop(demo);
    // Issues that are done, issues, runs, runs that failed, runs without quota.
    expect(demo.stdout()).toMatch(/^9 \D+ 10 \D+ 21 \D+ 1 \D+ 2 [^\d\n]+$/m);
    expect(place.pids()).toEqual([]);
  });

  // @conforms runs.50
  it('is asked again after a stop, holds its issue without an answer, and is answered by a demo with --once', async () => {
    using place = new Place(atSpeed);
    const first = startBaton(place, 'demo', '--dir', 'demo');
    await soon(() => expect(lineToType(first.stdout())).not.toBe(''));
    await stop(first);
    expect(first.stdout()).toMatch(/^ {2}WORDS-10 .*: /m);

    place.replace(
      'demo/WORKFLOW.md',
      place.read('demo/WORKFLOW.md').replace(/ask_timeout_ms: \d+/, 'ask_timeout_ms: 300'),
    );
    const demo = startBaton(place, 'demo', '--json', '--dir', 'demo');
    const question = 'Shall I start, or read all of the code first?';
    await soon(() =>
      expect(lastWith(demo, { identifier: 'WORDS-10', question, waits_until: null })).toMatchObject({
        command: expect.stringMatching(/ ask answer WORDS-10 --workflow \S+ --state-dir \S+ 1$/),
      }),
    );
    await soon(() =>
      expect(lastWith(demo, { identifier: 'WORDS-10', status: 'held' })).toMatchObject({
        code: 'agent_input_required',
        // The command works wherever the reader is.
        detail: expect.stringMatching(
          /Shall I start, or read all of the code first\? .* ask show WORDS-10 --workflow \S.*$/,
        ),
      }),
    );
    await stop(demo);

    const last = await baton(place, 'demo', '--once', '--dir', 'demo');
    expect(last).toMatchObject({ code: 0, stderr: '' });
    expect(last.stdout).toMatch(/^WORDS-10 .*: Shall I start, or read all of the code first\?\n {2}.*: start$/m);
    // All runs of the three starts, and no promise of what is over.
    const { runs } = await answer(place, 'runs', 'list', '--limit', '1000', ...inDemo);
    expect(last.stdout).toMatch(new RegExp(`^10 \\D+ 10 \\D+ ${runs.length} `, 'm'));
    expect(first.stdout()).toMatch(/WORDS-3/);
    expect(last.stdout.split('\n')[0]).toMatch(/WORDS-10/);
    expect(last.stdout).toMatch(/ --dir \S+\/demo --fresh$/m);
    expect(place.pids()).toEqual([]);
  });
});
