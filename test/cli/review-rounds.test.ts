// @module-tag full
import { renameSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { transcriptFiles } from '../../src/store/transcripts/transcript-files.ts';
import { git, scratchRepository } from '../workspace/git/scratch-repository.ts';
import { daemonHere } from './baton-here.ts';
import { answer, refusal, rehearsal, runsOf, soon, stateFolderOf } from './live-daemon.ts';
import { leaveNoPlaces, Place } from './run-baton.ts';

leaveNoPlaces();

/** An agent that adds a line with the name of its issue, and then does as `more` says when it comes back to its commit. */
const agentThat = (more: string): string => `set -e
if [ "$(git rev-list --count origin/main..HEAD)" = 0 ]; then
  echo "$BATON_ISSUE_IDENTIFIER" >> README.md
  git commit --quiet --all --message "A line for $BATON_ISSUE_IDENTIFIER"
else
${more}
fi
`;

/** Brings its commit onto the current base with git, and keeps the lines of both sides. */
const rebases = `
  git fetch --quiet origin
  git rebase --quiet origin/main >/dev/null 2>&1 || {
    sed -i '/^[<=>]\\{7\\}/d' README.md
    git add README.md
    git -c core.editor=true rebase --continue >/dev/null
  }
`;

const commitsMore = 'echo more > more.txt; git add more.txt; git commit --quiet --message More';
const takesTheirs = `git fetch --quiet origin; git reset --quiet --hard "origin/$(git branch --show-current)"; ${commitsMore}`;

const backends = {
  command: { agent: `command: "cat >/dev/null; exec sh '../../agent.sh'"`, description: 'Add a line.' },
  rehearsal: { agent: 'turn_timeout_ms: 60000', description: rehearsal('run sh ../../agent.sh') },
} as const;

async function project(
  backend: keyof typeof backends,
  agent: string,
  issues = 1,
): Promise<{ place: Place; source: string }> {
  const place = new Place({});
  const source = scratchRepository(`${place.folder}/project`);
  // The base is checked out nowhere, so Baton itself may move it.
  git(source, 'checkout', '--quiet', '--detach');
  place.write('agent.sh', agentThat(agent));
  place.write('home/.gitconfig', '[user]\n\tname = A Person\n\temail = person@example.invalid\n');
  place.write(
    'WORKFLOW.md',
    [
      '---',
      'project: {name: rounds}',
      'tracker: {kind: board}',
      'polling: {interval_ms: 300, jobs: {pull_requests: {interval_ms: 1000}}}',
      'workspace: {root: workspaces, repo: project, base: main}',
      'agent:',
      `  backend: ${backend}`,
      '  isolation_write: [.]',
      `  ${backends[backend].agent}`,
      '  after_success: review',
      '---',
      '{{ issue.description }}',
    ].join('\n'),
  );
  const { description } = backends[backend];
  for (let nth = 1; nth <= issues; nth += 1)
    await answer(place, 'issue', 'add', `Line ${nth}`, '--description', description);
  return { place, source };
}

// biome-ignore lint/suspicious/noExplicitAny: each test checks the part it is about.
async function untilPull(place: Place, reference: string, parts: object): Promise<any> {
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  let pull: any;
  await soon(async () => {
    ({ pull } = await answer(place, 'pr', 'show', reference));
    expect(pull).toMatchObject(parts);
    if (pull.status === 'in_review')
      expect((await answer(place, 'issue', 'show', reference)).issue.status).toBe('review');
  });
  return pull;
}

/** The prompts of a run. */
async function promptsOf(place: Place, runId: unknown): Promise<string> {
  const reader = transcriptFiles(path.join(stateFolderOf(place), 'transcripts'));
  const { lines } = await reader.read(String(runId), { limit: 10_000 });
  return lines.filter((line) => JSON.parse(line).name === 'turn_prompt').join('\n');
}

describe.each(['command', 'rehearsal'] as const)('a change with %s as the agent', { timeout: 180_000 }, (backend) => {
  // @conforms 4.68
  it('that conflicts with one merged before goes back, is rebased by its agent, and is merged', async () => {
    const { place, source } = await project(backend, rebases, 2);
    const daemon = await daemonHere(place);
    for (const issue of ['BAT-1', 'BAT-2']) await untilPull(place, issue, { status: 'in_review' });
    expect((await answer(place, 'pr', 'merge', 'BAT-1')).command).toMatchObject({ code: 'change_merged' });
    await untilPull(place, 'BAT-2', { merge: { is_possible: false, code: 'conflict', files: ['README.md'] } });
    expect(await refusal(place, 'pr', 'merge', 'BAT-2')).toMatchObject({
      details: { code: 'not_merged', data: { problem: 'conflict', files: ['README.md'] } },
    });

    const words = 'Keep the line of the other change.';
    await answer(place, 'pr', 'send-back', 'BAT-2', words, '--rebase');
    const { rounds } = await untilPull(place, 'BAT-2', { status: 'in_review', times_sent_back: 1 });
    expect(rounds).toMatchObject([
      { round: 1, sent_back: { kind: 'person' } },
      { round: 2, sent_back: null },
    ]);
    const last = (await runsOf(place)).at(-1);
    expect(last).toMatchObject({ issue_identifier: 'BAT-2', retry_kind: 'revision', outcome: 'succeeded' });
    const told = await promptsOf(place, last?.run_id);
    expect(told).toContain(words);
    expect(told).toContain('origin/main');
    expect(git(source, 'rev-list', '--count', 'main..baton/bat-2')).toBe('1');
    const { diff } = await answer(place, 'pr', 'diff', 'BAT-2', '--since-round', '1');
    expect(diff).toMatchObject({ includes_base: true, files: [{ path: 'README.md' }] });

    expect((await answer(place, 'pr', 'merge', 'BAT-2')).command).toMatchObject({ code: 'change_merged' });
    expect(git(source, 'show', 'main:README.md')).toBe('hello\nBAT-1\nBAT-2');
    await soon(async () => expect((await answer(place, 'issue', 'show', 'BAT-2')).issue.status).toBe('done'));
    await daemon.stop();
    expect(await runsOf(place)).toHaveLength(3);
  });

  // @conforms F071
  it('with a red check goes back by itself, is fixed by its agent in the second round, and is merged', async () => {
    const { place, source } = await project(backend, commitsMore);
    const review = `review: {checks: ['echo "more is missing" >&2; test -e more.txt']}`;
    place.write('WORKFLOW.md', place.read('WORKFLOW.md').replace('agent:\n', `${review}\nagent:\n`));
    const daemon = await daemonHere(place);
    const { rounds } = await untilPull(place, 'BAT-1', { status: 'in_review', checks: 'green', times_sent_back: 1 });
    expect(rounds).toMatchObject([
      { sent_back: { kind: 'check' }, checks: [{ result: 'failed' }], said: [{ kind: 'check', status: 'delivered' }] },
      { sent_back: null, checks: [{ result: 'passed' }] },
    ]);
    const runs = await runsOf(place);
    expect(runs.map(({ retry_kind }) => retry_kind)).toEqual([null, 'revision']);
    expect(await promptsOf(place, runs[1]?.run_id)).toContain('more is missing');
    expect((await answer(place, 'pr', 'merge', 'BAT-1')).command).toMatchObject({ code: 'change_merged' });
    expect(git(source, 'show', 'main:more.txt')).toBe('more');
    await daemon.stop();
  });

  it('is not begun in a workspace that a person made, whose branch nothing could publish', async () => {
    const { place, source } = await project(backend, commitsMore);
    git(source, 'clone', '--quiet', source, `${place.folder}/workspaces/BAT-1`);
    const daemon = await daemonHere(place);
    await soon(async () =>
      expect((await answer(place, 'status')).status.held).toMatchObject([
        { issue_identifier: 'BAT-1', code: 'workspace_without_branch' },
      ]),
    );
    expect(await runsOf(place)).toMatchObject([{ outcome: 'failed', turns: 0 }]);
    renameSync(`${place.folder}/workspaces/BAT-1`, `${place.folder}/aside`);
    await answer(place, 'issue', 'retry', 'BAT-1');
    await untilPull(place, 'BAT-1', { status: 'in_review' });
    await daemon.stop();
  });

  it('whose branch a person replaced is left alone: their commits stay, and the issue waits for a person', async () => {
    const { place, source } = await project(backend, commitsMore);
    const daemon = await daemonHere(place);
    const theirs = await replaceBranch(place, source);
    await answer(place, 'pr', 'send-back', 'BAT-1', 'Go on from here.');
    await soon(async () =>
      expect((await answer(place, 'status')).status.held).toMatchObject([
        { issue_identifier: 'BAT-1', code: 'change_not_published' },
      ]),
    );
    expect(git(source, 'rev-parse', 'baton/bat-1')).toBe(theirs);
    expect((await answer(place, 'pr', 'show', 'BAT-1')).pull).toMatchObject({ head: theirs, status: 'sent_back' });
    const runs = await runsOf(place);
    expect(runs).toHaveLength(2);
    // The agent knew.
    expect(await promptsOf(place, runs[1]?.run_id)).toContain(theirs.slice(0, 12));
    await daemon.stop();
  });

  it('whose branch a person replaced goes on from their commits when its agent takes them', async () => {
    const { place, source } = await project(backend, takesTheirs);
    const daemon = await daemonHere(place);
    const theirs = await replaceBranch(place, source);
    await answer(place, 'pr', 'send-back', 'BAT-1', 'Go on from here.');
    await untilPull(place, 'BAT-1', { status: 'in_review', rounds: [{ round: 1 }, { round: 2 }, { round: 3 }] });
    expect(git(source, 'rev-parse', 'baton/bat-1~1')).toBe(theirs);
    await daemon.stop();
  });
});

/** A person puts a commit of their own in the place of the agent's; the change says so. */
async function replaceBranch(place: Place, source: string): Promise<string> {
  const first = await untilPull(place, 'BAT-1', { status: 'in_review' });
  const tree = git(source, 'rev-parse', 'main^{tree}');
  const theirs = git(source, 'commit-tree', '-p', 'main', '-m', 'By hand', tree);
  git(source, 'update-ref', 'refs/heads/baton/bat-1', theirs);
  const second = await untilPull(place, 'BAT-1', { head: theirs, rounds: [{ round: 1 }, { round: 2 }] });
  expect(second.rounds).toMatchObject([{ run_id: first.rounds[0].run_id }, { run_id: null, sent_back: null }]);
  // Nothing that was said about the agent's commit applies to theirs.
  expect(await runsOf(place)).toHaveLength(1);
  return theirs;
}
