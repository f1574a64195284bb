// @module-tag full
import { describe, expect, it } from 'vitest';
import { rebaseNote } from '../../src/core/pull/rebase-note.ts';
import { commit, git, scratchRepository } from '../workspace/git/scratch-repository.ts';
import { batonAtTerminal, batonHere, daemonHere, type Terminal } from './baton-here.ts';
import { answer, refusal, runsOf, soon } from './live-daemon.ts';
import { leaveNoPlaces, Place } from './run-baton.ts';

leaveNoPlaces();

/** The agent keeps its prompt, greets in capitals if the prompt has the word, and commits. */
const agent =
  'cat > ../../prompts/$BATON_RUN_ID; grep -q louder ../../prompts/$BATON_RUN_ID && w=HELLO || w=hello; ' +
  'echo $w > greeting.txt; git add -A; git commit -qm "Greet with $w"';

/** A project whose repository is the folder of the place: what a person does there needs no other folder. */
async function changeInReview(): Promise<{ place: Place; daemon: Awaited<ReturnType<typeof daemonHere>> }> {
  const place = new Place({});
  scratchRepository(place.folder);
  place.write('home/.gitconfig', '[user]\n\tname = A Person\n\temail = person@example.invalid\n');
  place.write('prompts/.keep', '');
  place.write('.gitignore', 'home\ntmp\nstate\nprompts\nworkspaces\nWORKFLOW.md\n');
  git(place.folder, 'add', '.gitignore');
  git(place.folder, 'commit', '--quiet', '-m', 'Ignore what a test leaves');
  place.write(
    'WORKFLOW.md',
    [
      '---',
      'project: {name: review}',
      'tracker: {kind: board}',
      'polling: {interval_ms: 300, jobs: {pull_requests: {interval_ms: 1000}}}',
      'workspace: {root: workspaces, repo: ., base: main}',
      'agent:',
      '  backend: command',
      `  command: ${JSON.stringify(agent)}`,
      '  after_success: review',
      '  isolation_write: [prompts]',
      '---',
      'Greet for {{ issue.identifier }}.',
    ].join('\n'),
  );
  await answer(place, 'issue', 'add', 'Greet');
  const daemon = await daemonHere(place);
  await soon(async () => expect((await issueOf(place)).status).toBe('review'));
  return { place, daemon };
}

// biome-ignore lint/suspicious/noExplicitAny: each test checks the part it is about.
async function pullOf(place: Place): Promise<any> {
  return (await answer(place, 'pr', 'show', '1')).pull;
}

// biome-ignore lint/suspicious/noExplicitAny: each test checks the part it is about.
async function issueOf(place: Place): Promise<any> {
  return (await answer(place, 'issue', 'show', 'BAT-1')).issue;
}

/** Pushes a commit to the branch, as a person does; resolves when it is in review. */
async function push(place: Place): Promise<string> {
  const clone = `${place.temporary}/clone`;
  git(place.temporary, 'clone', '--quiet', '--branch', 'baton/bat-1', place.folder, clone);
  commit(clone, { 'unseen.txt': 'nobody read this\n' });
  git(clone, 'push', '--quiet', 'origin', 'HEAD');
  const head = git(clone, 'rev-parse', 'HEAD');
  await soon(async () => expect(await pullOf(place)).toMatchObject({ head }));
  return head;
}

/** Resolves when the terminal asks for a key for this time. */
async function asks(terminal: Terminal, times: number): Promise<void> {
  await soon(() => expect(terminal.stdout().split('[q]uit').length - 1).toBe(times));
}

describe('baton review', { timeout: 120_000 }, () => {
  it('approves and merges only the commit that it showed, and shows one that was pushed meanwhile', async () => {
    const { place, daemon } = await changeInReview();
    const terminal = batonAtTerminal(place, 'review', 'BAT-1');
    await asks(terminal, 1);
    const head = await push(place);
    terminal.type('a');
    await asks(terminal, 2);
    expect(await pullOf(place)).toMatchObject({ head, status: 'in_review', approved: null });
    expect(terminal.stdout()).toContain(head.slice(0, 10));
    // The new commit was shown now.
    terminal.type('a');
    await asks(terminal, 3);
    expect(await pullOf(place)).toMatchObject({ head, status: 'approved' });
    terminal.type('m');
    expect(await terminal.ended).toMatchObject({ code: 0 });
    expect(await pullOf(place)).toMatchObject({ status: 'merged' });
    expect(git(place.folder, 'show', 'main:unseen.txt')).toBe('nobody read this');
    await daemon.stop();
  });

  it('shows the diff of the commit that a decision is about, and sends the change back with the words', async () => {
    const { place, daemon } = await changeInReview();
    const terminal = batonAtTerminal(place, 'review', 'BAT-1');
    await asks(terminal, 1);
    const head = await push(place);
    terminal.type('d');
    await asks(terminal, 2);
    expect(terminal.stdout()).toContain('+nobody read this');
    terminal.type('s');
    await soon(() => expect(terminal.stdout().endsWith('? ')).toBe(true));
    terminal.type('Say it louder.');
    expect(await terminal.ended).toMatchObject({ code: 0 });
    expect((await pullOf(place)).rounds.at(-1)).toMatchObject({
      head,
      sent_back: { kind: 'person' },
      said: [{ body: 'Say it louder.' }],
    });
    await daemon.stop();
  });

  it('sends a change that conflicts with its base back to be rebased, with one key', async () => {
    const { place, daemon } = await changeInReview();
    commit(place.folder, { 'greeting.txt': 'something else\n' });
    const terminal = batonAtTerminal(place, 'review', 'BAT-1');
    await asks(terminal, 1);
    terminal.type('m');
    await asks(terminal, 2);
    expect(terminal.stdout()).toContain('greeting.txt');
    terminal.type('r');
    expect(await terminal.ended).toMatchObject({ code: 0 });
    expect((await pullOf(place)).rounds[0]).toMatchObject({
      sent_back: { kind: 'person' },
      said: [{ kind: 'note', body: rebaseNote }],
    });
    await daemon.stop();
  });

  it('decides nothing when the person leaves', async () => {
    const { place, daemon } = await changeInReview();
    const terminal = batonAtTerminal(place, 'review', 'BAT-1');
    await asks(terminal, 1);
    terminal.type('q');
    expect(await terminal.ended).toMatchObject({ code: 0 });
    expect(await pullOf(place)).toMatchObject({ status: 'in_review', approved: null });
    await daemon.stop();
  });
});

describe('in the folder that has the base checked out', { timeout: 120_000 }, () => {
  it('baton pr merge moves it forward with its files, and not while a file is changed', async () => {
    const { place, daemon } = await changeInReview();
    const before = git(place.folder, 'rev-parse', 'main');
    place.write('README.md', 'not committed\n');
    expect(await refusal(place, 'pr', 'merge', '1')).toMatchObject({
      details: { code: 'not_merged', data: { problem: 'dirty' } },
    });
    expect([git(place.folder, 'rev-parse', 'main'), place.read('README.md')]).toEqual([before, 'not committed\n']);
    git(place.folder, 'checkout', '--quiet', 'README.md');
    expect((await answer(place, 'pr', 'merge', '1')).command).toMatchObject({ code: 'change_merged' });
    expect([place.read('greeting.txt'), git(place.folder, 'status', '--porcelain')]).toEqual(['hello\n', '']);
    expect(git(place.folder, 'log', '-1', '--format=%an')).toBe('A Person');
    expect(await pullOf(place)).toMatchObject({ status: 'merged' });
    expect((await issueOf(place)).status).toBe('done');
    await daemon.stop();
  });

  it('baton pr checkout switches to the branch, and not where that would lose work', async () => {
    const { place, daemon } = await changeInReview();
    expect(await answer(place, 'pr', 'checkout', 'BAT-1')).toEqual({ pull: 1, branch: 'baton/bat-1' });
    expect([git(place.folder, 'branch', '--show-current'), place.read('greeting.txt')]).toEqual([
      'baton/bat-1',
      'hello\n',
    ]);
    git(place.folder, 'switch', '--quiet', '-');
    place.write('greeting.txt', 'my own\n');
    expect(await refusal(place, 'pr', 'checkout', '1')).toMatchObject({ code: 'git_failed' });
    for (const problem of ['no_repository', 'no_branch']) {
      using outside = new Place({ HOME: place.home, XDG_STATE_HOME: place.state });
      if (problem === 'no_branch') scratchRepository(outside.folder);
      const named = ['--workflow', `${place.folder}/WORKFLOW.md`];
      expect(await refusal(outside, 'pr', 'checkout', '1', ...named)).toMatchObject({
        code: 'not_in_clone',
        next_step: expect.stringContaining(`git -C ${place.folder} switch baton/bat-1`),
        details: { problem, branch: 'baton/bat-1' },
      });
    }
    expect([git(place.folder, 'branch', '--show-current'), place.read('greeting.txt')]).toEqual(['main', 'my own\n']);
    await daemon.stop();
  });
});

describe('a change under review', { timeout: 120_000 }, () => {
  it('gets a comment on a line from the command line, and the agent reads it', async () => {
    const { place, daemon } = await changeInReview();
    const comment = ['--comment', 'greeting.txt:1: Say it louder: all of it.'];
    expect((await batonHere(place, 'pr', 'send-back', '1', '--comment', 'greeting.txt: no line')).code).toBe(2);
    expect((await answer(place, 'pr', 'send-back', '1', ...comment)).command).toMatchObject({
      code: 'change_sent_back',
    });
    await soon(async () => expect(await pullOf(place)).toMatchObject({ status: 'in_review', rounds: { length: 2 } }));
    const [first] = (await pullOf(place)).rounds;
    expect(first.said).toMatchObject([
      { path: 'greeting.txt', line: 1, body: 'Say it louder: all of it.', status: 'delivered' },
    ]);
    const [, revision] = await runsOf(place);
    const prompt = place.read(`prompts/${revision?.run_id}`);
    for (const part of ['greeting.txt', 'Say it louder: all of it.']) expect(prompt).toContain(part);
    await daemon.stop();
  });

  it('is closed without a merge: its branch and its issue stay', async () => {
    const { place, daemon } = await changeInReview();
    const before = git(place.folder, 'rev-parse', 'main', 'baton/bat-1');
    expect((await answer(place, 'pr', 'close', 'BAT-1')).command).toMatchObject({ code: 'change_closed' });
    expect(await pullOf(place)).toMatchObject({ status: 'closed', closed: { by: { kind: 'person' } } });
    expect(git(place.folder, 'rev-parse', 'main', 'baton/bat-1')).toBe(before);
    expect((await issueOf(place)).status).toBe('review');
    expect(await refusal(place, 'pr', 'merge', '1')).toMatchObject({ details: { code: 'pull_ended' } });
    await daemon.stop();
  });
});
