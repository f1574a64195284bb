// @module-tag full
import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { withoutNamespaces } from '../fake/without-namespaces.ts';
import { commit, git, scratchRepository } from '../workspace/git/scratch-repository.ts';
import { batonHere, daemonHere } from './baton-here.ts';
import { addIssue, answer, refusal, runsOf, soon, startDaemon, stopDaemon } from './live-daemon.ts';
import { jsonLines, leaveNoPlaces, Place } from './run-baton.ts';

leaveNoPlaces();

/** The agent greets in capitals if its prompt has the word, commits, and never moves its issue. */
const agent =
  'grep -q louder && w=HELLO || w=hello; echo $w > greeting.txt; git add -A; git commit -qm "Greet with $w"';

function project(checks: readonly string[] = [], env = {}): { place: Place; source: string } {
  const place = new Place(env);
  const source = scratchRepository(`${place.folder}/project`);
  place.write('home/.gitconfig', '[user]\n\tname = A Person\n\temail = person@example.invalid\n');
  place.write(
    'WORKFLOW.md',
    [
      '---',
      'project: {name: review}',
      'tracker: {kind: board}',
      'polling: {interval_ms: 300, jobs: {pull_requests: {interval_ms: 1000}}}',
      'workspace: {root: workspaces, repo: project, base: main}',
      `review: {checks: ${JSON.stringify(checks)}}`,
      'agent:',
      '  backend: command',
      `  command: ${JSON.stringify(agent)}`,
      '  after_success: review',
      '---',
      'Greet for {{ issue.identifier }}. {{ issue.description }}',
    ].join('\n'),
  );
  return { place, source };
}

// biome-ignore lint/suspicious/noExplicitAny: each test checks the part it is about.
async function pullOf(place: Place, reference: string): Promise<any> {
  return (await answer(place, 'pr', 'show', reference)).pull;
}

async function untilPull(place: Place, reference: string, parts: object): Promise<void> {
  await soon(async () => {
    expect(await pullOf(place, reference)).toMatchObject(parts);
  });
}

async function statusOf(place: Place, issue: string): Promise<string> {
  return (await answer(place, 'issue', 'show', issue)).issue.status;
}

it('reads the repository only after the agents of the previous daemon are gone', { timeout: 240_000 }, async () => {
  const { place } = project([], withoutNamespaces);
  const stubborn = "trap '' TERM INT HUP; touch ../../begun; while :; do sleep 0.2; done";
  place.write('WORKFLOW.md', place.read('WORKFLOW.md').replace(JSON.stringify(agent), JSON.stringify(stubborn)));
  const first = await startDaemon(place);
  await addIssue(place, 'Greet');
  await soon(() => expect(existsSync(`${place.folder}/begun`)).toBe(true));
  first.child.kill('SIGKILL');
  await first.ended;
  // It ends that agent first, which takes a second. Git has the same marks, and was ended with it.
  const second = await startDaemon(place);
  const events = jsonLines(second.stderr()).map(({ event }) => event);
  expect(events).not.toContain('repository_not_ready');
  await answer(place, 'issue', 'move', 'BAT-1', 'cancelled');
  await stopDaemon(second);
});

// @conforms 4.64
it('says before any run which branch is missing, where HEAD is detached and no base is set', async () => {
  const { place, source } = project();
  place.write('WORKFLOW.md', place.read('WORKFLOW.md').replace(', base: main', ''));
  git(source, 'checkout', '--quiet', '--detach');
  const details = { problem: 'detached_head', likely: 'main' };
  const { stdout } = await batonHere(place, 'doctor', 'WORKFLOW.md', '--json');
  expect(JSON.parse(stdout).findings).toContainEqual(
    expect.objectContaining({
      check: 'repository',
      status: 'failed',
      details: expect.objectContaining(details),
      next_step: expect.stringContaining('workspace.base'),
    }),
  );
  const daemon = await daemonHere(place);
  const [line] = jsonLines(daemon.stderr()).filter(({ event }) => event === 'repository_not_ready');
  expect(line).toMatchObject({ error: { code: 'repository_unavailable', details } });
  await daemon.stop();
});

describe('a change under review', { timeout: 180_000 }, () => {
  // @conforms 4.47, 4.64, 4.68
  it('stands there after one run, goes back with words that arrive, and is merged by one command', async () => {
    const { place, source } = project();
    // The base is checked out nowhere, so Baton itself may move it.
    git(source, 'checkout', '--quiet', '--detach');
    await answer(place, 'issue', 'add', 'Greet');
    const daemon = await daemonHere(place);
    await untilPull(place, 'BAT-1', { number: 1, status: 'in_review', branch: 'baton/bat-1', base: 'main' });
    await soon(async () => expect(await statusOf(place, 'BAT-1')).toBe('review'));
    expect(await runsOf(place)).toHaveLength(1);
    expect((await answer(place, 'pr', 'list')).pulls).toMatchObject([{ number: 1, issue_identifier: 'BAT-1' }]);
    expect((await answer(place, 'pr', 'diff', '1')).diff.files).toMatchObject([{ path: 'greeting.txt', added: 1 }]);

    const { command } = await answer(place, 'pr', 'send-back', '1', 'Say it louder, please.');
    expect(command).toMatchObject({ code: 'change_sent_back' });
    await untilPull(place, '1', { status: 'in_review', times_sent_back: 1, rounds: [{ round: 1 }, { round: 2 }] });
    expect((await runsOf(place)).map(({ retry_kind }) => retry_kind)).toEqual([null, 'revision']);
    expect(git(source, 'show', 'baton/bat-1:greeting.txt')).toBe('HELLO');
    const since = await answer(place, 'pr', 'diff', '1', '--since-round', '1');
    expect(since.diff.files).toMatchObject([{ path: 'greeting.txt', added: 1, removed: 1 }]);

    await soon(async () => expect(await statusOf(place, 'BAT-1')).toBe('review'));
    expect((await answer(place, 'pr', 'approve', '1')).command).toMatchObject({ code: 'change_approved' });
    expect((await answer(place, 'pr', 'merge', '1')).command).toMatchObject({ code: 'change_merged' });
    expect(git(source, 'show', 'main:greeting.txt')).toBe('HELLO');
    expect(await statusOf(place, 'BAT-1')).toBe('done');
    expect(await pullOf(place, '1')).toMatchObject({ status: 'merged', merged: { method: 'merge' } });
    await daemon.stop();
    expect(await runsOf(place)).toHaveLength(2);
  });

  it('is listed without a daemon, and a decision that waits is part of the explanation', async () => {
    const { place } = project();
    await answer(place, 'issue', 'add', 'Greet');
    const daemon = await daemonHere(place);
    await untilPull(place, 'BAT-1', { status: 'in_review' });
    await soon(async () => expect(await statusOf(place, 'BAT-1')).toBe('review'));
    await daemon.stop();
    const reviews = [{ number: 1, issue_identifier: 'BAT-1', status: 'in_review' }];
    expect(await answer(place, 'status')).toMatchObject({ daemon: false, waiting_commands: 0, reviews });
    expect((await batonHere(place, 'status')).stdout).toMatch(/^ {2}BAT-1 .*baton review BAT-1$/m);
    expect(await answer(place, 'explain', 'BAT-1')).toMatchObject({ waiting_commands: 0, code: 'inactive_state' });
    await answer(place, 'pr', 'send-back', '1', 'Say it louder, please.');
    expect(await answer(place, 'explain', 'BAT-1')).toMatchObject({ waiting_commands: 1, code: 'inactive_state' });
  });

  // @conforms 4.68
  it('that a person merges with git itself closes its issue, and Baton writes no folder that is checked out', async () => {
    const { place, source } = project();
    await answer(place, 'issue', 'add', 'Greet');
    const daemon = await daemonHere(place);
    await untilPull(place, '1', { status: 'in_review', merge: { is_possible: false, code: 'checked_out' } });
    const before = git(source, 'rev-parse', 'main');
    expect(await refusal(place, 'pr', 'merge', '1')).toMatchObject({
      code: 'command_refused',
      details: { code: 'not_merged', data: { problem: 'checked_out' } },
    });
    expect(git(source, 'rev-parse', 'main')).toBe(before);
    // The printed commands work where each of them is to be run.
    const lines = (await batonHere(place, 'pr', 'show', '1', '--workflow', './WORKFLOW.md')).stdout.split('\n');
    expect(lines).toContain('  baton pr diff 1 --workflow ./WORKFLOW.md');
    expect(lines).toContain(`  baton pr merge 1 --workflow ${place.folder}/WORKFLOW.md`);
    git(source, 'merge', '--quiet', 'baton/bat-1');
    await untilPull(place, '1', { status: 'merged' });
    expect(await statusOf(place, 'BAT-1')).toBe('done');
    await daemon.stop();
  });

  it('that a person finished by hand stands there when they move its issue to review', async () => {
    const { place, source } = project();
    place.write('WORKFLOW.md', place.read('WORKFLOW.md').replace(JSON.stringify(agent), '"sleep 600"'));
    await answer(place, 'issue', 'add', 'Greet');
    const daemon = await daemonHere(place);
    await soon(async () => expect(await runsOf(place)).toMatchObject([{ turns: 1 }]));
    const { command } = await answer(place, 'takeover', 'BAT-1');
    await soon(async () => expect((await answer(place, 'status')).status.held).toMatchObject([{ code: 'taken_over' }]));
    const workspace = command.facts.workspace_path;
    commit(workspace, { 'greeting.txt': 'by hand\n' });
    await answer(place, 'issue', 'move', 'BAT-1', 'review');
    await untilPull(place, 'BAT-1', { status: 'in_review', branch: 'baton/bat-1' });
    expect(git(source, 'show', 'baton/bat-1:greeting.txt')).toBe('by hand');
    await soon(async () => expect((await answer(place, 'status')).status.held).toEqual([]));
    expect([await statusOf(place, 'BAT-1'), (await runsOf(place)).length]).toEqual(['review', 1]);
    await daemon.stop();
  });

  it('of an agent that never commits is committed by Baton, where review.auto_commit asks for it', async () => {
    const { place, source } = project();
    const text = place.read('WORKFLOW.md').replace('checks: []', 'auto_commit: true');
    place.write('WORKFLOW.md', text.replace(JSON.stringify(agent), '"cat >/dev/null; echo hello > greeting.txt"'));
    await answer(place, 'issue', 'add', 'Greet');
    const daemon = await daemonHere(place);
    await untilPull(place, '1', { status: 'in_review' });
    expect(git(source, 'show', 'baton/bat-1:greeting.txt')).toBe('hello');
    expect(git(source, 'log', '--format=%an', 'main..baton/bat-1')).toBe('Baton');
    // The agent had one more turn for it first.
    expect(await runsOf(place)).toMatchObject([{ outcome: 'succeeded', turns: 2 }]);
    await daemon.stop();
  });

  it('with a red check goes back by itself, and stands green in the second round', async () => {
    const { place, source } = project(['echo "say it louder" >&2; grep -q HELLO greeting.txt']);
    await answer(place, 'issue', 'add', 'Greet');
    const daemon = await daemonHere(place);
    await untilPull(place, '1', { status: 'in_review', checks: 'green', times_sent_back: 1 });
    const { rounds } = await pullOf(place, '1');
    expect(rounds).toMatchObject([
      { sent_back: { kind: 'check' }, checks: [{ result: 'failed', exit_code: 1 }] },
      { sent_back: null, checks: [{ result: 'passed', exit_code: 0 }] },
    ]);
    expect(await runsOf(place)).toHaveLength(2);
    expect(git(source, 'show', 'baton/bat-1:greeting.txt')).toBe('HELLO');
    expect(await refusal(place, 'pr', 'check', 'BAT-1')).toMatchObject({ details: { code: 'nothing_to_check' } });
    const { name, ended_at } = rounds[1].checks[0];
    expect((await answer(place, 'pr', 'check', 'BAT-1', name)).command).toMatchObject({ code: 'checks_again' });
    await soon(async () => expect((await pullOf(place, '1')).rounds[1].checks[0].ended_at).not.toBe(ended_at));
    await untilPull(place, '1', { status: 'in_review', checks: 'green', rounds: { length: 2 } });
    await daemon.stop();
  });
});
