// @module-tag full
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock/system-clock.ts';
import { done } from '../../src/core/command/command-answers.ts';
import { checkoutFolders } from '../../src/workspace/git/checkout/checkout-record.ts';
import { gitPlaces } from '../../src/workspace/git/git-places.ts';
import { ask, endRun, inStore, placeWithStore } from './asked-question.ts';
import { batonHere } from './baton-here.ts';
import { answer, boardWorkflow, liveTest, refusal, stateFolderOf } from './live-daemon.ts';
import { batonCommand, leaveNoPlaces, type Place, startBaton, startProgram } from './run-baton.ts';

leaveNoPlaces();

/** The daemon's part: carries the command with this key out. */
async function carryOut(place: Place, id: string): Promise<void> {
  const result = { at: systemClock.now(), ...done('taking_over_after_run', 'Stopping the run of BAT-1.') };
  await inStore(place, (store) => store.commands.finish(id, result));
}

async function payloads(place: Place): Promise<unknown[]> {
  const commands = await inStore(place, (store, project) => store.commands.waiting(project, 100));
  return commands.map(({ kind, payload }) => [kind, payload]);
}

/** Where Baton keeps what it knows of the checkout in this workspace, as a path in the place. */
function recordOf(place: Place, workspace: string): string {
  return path.relative(place.folder, checkoutFolders(gitPlaces(stateFolderOf(place)), workspace).record);
}

const commit = 'a'.repeat(40);
const checkout = {
  version: 1,
  strategy: 'worktree',
  repository: '/r',
  branch: 'b',
  base: 'main',
  objectFormat: 'sha1',
  shadow: '/l',
  baseCommit: commit,
  start: commit,
  found: null,
  published: null,
  borrowed: [],
  excludes: [],
};

describe.concurrent('baton takeover', liveTest, () => {
  it('says that the command waits when no daemon runs, and not where to work', async () => {
    using place = await placeWithStore();
    await ask(place, { id: 'aaaaaaaa-1' });
    expect(await answer(place, 'takeover', 'BAT-1')).toMatchObject({
      command: {
        id: expect.any(String),
        kind: 'issue_takeover',
        status: 'waiting',
        code: null,
        text: expect.any(String),
        data: {},
      },
      takeover: null,
    });
    const plain = await batonHere(place, 'takeover', 'BAT-1');
    expect(plain).toMatchObject({ code: 0, stderr: '' });
    expect(plain.stdout).toMatch(/^\S[^\n]*\.\n$/);
  });

  // @conforms runs.22
  it('prints where and how to continue only after the run has ended', async () => {
    const accounts = 'agent: {backend: codex, accounts: [{name: spare, backend: codex, home: "/homes/spare  one"}]}';
    using place = await placeWithStore(boardWorkflow().replace(/^agent: .*$/m, accounts));
    await ask(place, { id: 'aaaaaaaa-1', account: 'spare', workspace: "/ws/it's", threadId: 'thread-1' });
    const sent = await answer(place, 'takeover', 'bat-1', '--key', 'k');
    await carryOut(place, sent.command.id);
    const told = startBaton(place, 'takeover', 'bat-1', '--key', 'k', '--json');
    // It does not say a word before.
    const early = await Promise.race([told.ended, new Promise((resolve) => setTimeout(resolve, 1_500, 'waits'))]);
    expect(early).toBe('waits');
    expect(told.stdout()).toBe('');
    await inStore(place, (store) => endRun(store, 'run-aaaaaaaa-1'));
    const { code, stdout, stderr } = await told.ended;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const command = JSON.parse(stdout).takeover.resume_command;
    expect(JSON.parse(stdout)).toMatchObject({
      command: { kind: 'issue_takeover', status: 'done', code: 'taking_over_after_run' },
      takeover: { run_id: 'run-aaaaaaaa-1', run_ended: true, workspace_free: true, workspace_path: "/ws/it's" },
    });
    const line = `CODEX_HOME='/homes/spare  one' codex resume --no-daemon --sandbox workspace-write`;
    const trust = `-c 'projects={"/ws/it'\\''s"={trust_level="untrusted"}}'`;
    expect(command).toBe(`cd '/ws/it'\\''s' && ${line} ${trust} thread-1`);

    const plain = await batonHere(place, 'takeover', 'bat-1', '--key', 'k');
    expect(plain.stdout.split('\n')).toEqual([
      'Stopping the run of BAT-1.',
      expect.stringMatching(/ \/ws\/it's$/),
      expect.stringContaining(` ${command}`),
      expect.stringContaining('baton issue move BAT-1 STATE'),
      expect.stringMatching(/ baton handback BAT-1$/),
      '',
    ]);
  });

  it('prints the command of the program, the settings and the account of the agent that worked', async () => {
    const agents = [
      'agent: {backend: codex, accounts: [{name: codex}, {name: spare, backend: acp, env: {CODEX_HOME: "/homes/spare one"}}]}',
      'agents:',
      '  open: {backend: acp, preset: opencode}',
      '  bridge: {backend: acp, preset: codex-acp, accounts: [spare]}',
      '  wide: {thread_sandbox: danger-full-access}',
    ].join('\n');
    using place = await placeWithStore(boardWorkflow().replace(/^agent: .*$/m, agents));
    const lines: string[] = [];
    for (const [index, run] of [
      { agent: 'open', backend: 'acp', account: 'spare' },
      { agent: 'bridge', backend: 'acp', account: 'spare' },
      { agent: 'wide', backend: 'codex', account: 'codex' },
    ].entries()) {
      const identifier = `BAT-${index + 1}`;
      await ask(place, { id: `aaaaaaaa-${index}`, identifier, ...run, hasEnded: true });
      const sent = await answer(place, 'takeover', identifier, '--key', identifier);
      await carryOut(place, sent.command.id);
      lines.push((await answer(place, 'takeover', identifier, '--key', identifier)).takeover.resume_command);
    }
    expect(lines).toEqual([
      expect.stringMatching(/ opencode --session thread-1$/),
      expect.stringContaining("CODEX_HOME='/homes/spare one' codex resume --no-daemon --sandbox workspace-write "),
      expect.stringContaining(' codex resume --no-daemon --sandbox danger-full-access '),
    ]);
  });

  // @conforms runs.68
  it('allows writing only to the git directory that Baton recorded, never to one that an agent names', async () => {
    using place = await placeWithStore();
    const [known, own, named] = ['known', 'own', 'named'].map((name) => path.join(place.folder, name));
    const gitDir = path.join(place.folder, 'git of known');
    place.write(recordOf(place, known ?? ''), JSON.stringify({ ...checkout, workspace: known, gitDir }));
    place.write('own/.git/HEAD', 'ref: refs/heads/main');
    place.write('named/.git', 'gitdir: /etc');
    const expected = [`--add-dir '${gitDir}'`, `--add-dir ${own}/.git`, null];
    for (const [index, workspace] of [known, own, named].entries()) {
      const identifier = `BAT-${index + 1}`;
      await ask(place, { id: `aaaaaaaa-${index}`, identifier, workspace: workspace ?? '', hasEnded: true });
      const sent = await answer(place, 'takeover', identifier, '--key', identifier);
      await carryOut(place, sent.command.id);
      const { takeover } = await answer(place, 'takeover', identifier, '--key', identifier);
      const added = /--add-dir (?:'[^']*'|\S+)/.exec(takeover.resume_command)?.[0] ?? null;
      expect(added).toBe(expected[index]);
    }
  });

  it('prints the conversation of the previous run if the last one never had a session', async () => {
    using place = await placeWithStore();
    await ask(place, { id: 'aaaaaaaa-1', threadId: 'thread-old', hasEnded: true });
    await inStore(place, async (store, project) => {
      const start = {
        project,
        issueId: 'id-BAT-1',
        identifier: 'BAT-1',
        runId: 'run-2',
        generation: 1,
        role: 'worker',
      };
      const more = { attempt: null, retryKind: 'handed_back', host: 'here', startedAt: systemClock.now() } as const;
      await store.runs.start({ ...start, ...more, backend: 'codex', account: 'default' });
      await store.runs.record('run-2', 1, { workspace: '/ws/BAT-1' });
      await endRun(store, 'run-2', 'agent_input_required');
    });
    const sent = await answer(place, 'takeover', 'BAT-1', '--key', 'k');
    await carryOut(place, sent.command.id);
    const { takeover } = await answer(place, 'takeover', 'BAT-1', '--key', 'k');
    expect(takeover).toMatchObject({ run_id: 'run-2', resume_command: expect.stringMatching(/ thread-old$/) });
  });

  it.each(['--dangerously-bypass-approvals-and-sandbox', 'a\u001b[2Jb', 'a b'])(
    'prints no command with the id of a conversation that is no plain name: %j',
    async (threadId) => {
      using place = await placeWithStore();
      await ask(place, { id: 'aaaaaaaa-1', threadId, hasEnded: true });
      const sent = await answer(place, 'takeover', 'BAT-1', '--key', 'k');
      await carryOut(place, sent.command.id);
      expect(await answer(place, 'takeover', 'BAT-1', '--key', 'k')).toMatchObject({
        takeover: { workspace_path: '/ws/BAT-1', resume_command: null },
      });
    },
  );

  it('says that only the workspace can be opened when the agent has no conversation', async () => {
    using place = await placeWithStore();
    await ask(place, { id: 'aaaaaaaa-1', backend: 'command', hasEnded: true });
    const sent = await answer(place, 'takeover', 'BAT-1', '--key', 'k');
    await carryOut(place, sent.command.id);
    expect(await answer(place, 'takeover', 'BAT-1', '--key', 'k')).toMatchObject({
      takeover: { workspace_path: '/ws/BAT-1', resume_command: null },
    });
    const { stdout } = await batonHere(place, 'takeover', 'BAT-1', '--key', 'k');
    for (const words of [' /ws/BAT-1\n', ' baton handback BAT-1\n']) expect(stdout).toContain(words);
  });

  it('says when no agent has worked on the issue yet', async () => {
    using place = await placeWithStore();
    const sent = await answer(place, 'takeover', 'BAT-7', '--key', 'k');
    await carryOut(place, sent.command.id);
    expect(await answer(place, 'takeover', 'BAT-7', '--key', 'k')).toMatchObject({
      takeover: { run_id: null, run_ended: null, workspace_path: null, resume_command: null },
    });
    const { stdout } = await batonHere(place, 'takeover', 'BAT-7', '--key', 'k');
    expect(stdout).toContain(' baton handback BAT-7\n');
  });

  it('warns with an exit code about an agent that could not be stopped', async () => {
    using place = await placeWithStore();
    await ask(place, { id: 'aaaaaaaa-1' });
    await inStore(place, (store) => endRun(store, 'run-aaaaaaaa-1', 'agent_survives'));
    const sent = await answer(place, 'takeover', 'BAT-1', '--key', 'k');
    await carryOut(place, sent.command.id);
    const plain = await batonHere(place, 'takeover', 'BAT-1', '--key', 'k');
    expect(plain).toMatchObject({ code: 1, stdout: expect.stringContaining('baton issue retry BAT-1') });
    expect(plain.stdout).not.toMatch(/codex resume|baton handback/);
    const told = await batonHere(place, 'takeover', 'BAT-1', '--key', 'k', '--json');
    expect(told.code).toBe(1);
    expect(JSON.parse(told.stdout)).toMatchObject({ takeover: { run_ended: true, workspace_free: false } });
  });

  it('prints text of agents that cannot control a terminal', async () => {
    using place = await placeWithStore();
    await ask(place, { id: 'aaaaaaaa-1', threadId: '\u001b[2J\u202ethread\nrm -rf', hasEnded: true });
    const sent = await answer(place, 'takeover', 'BAT-1', '--key', 'k');
    await carryOut(place, sent.command.id);
    for (const json of [[], ['--json']]) {
      const { stdout } = await batonHere(place, 'takeover', 'BAT-1', '--key', 'k', ...json);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the purpose.
      expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
      expect(stdout.split('\n')).toHaveLength(json.length === 0 ? 5 : 2);
    }
  });

  it('hands the work back, with or without a note', async () => {
    using place = await placeWithStore();
    await answer(place, 'handback', 'BAT-1', '--note', 'the door is mended', '--reason', 'done');
    await answer(place, 'handback', 'BAT-1');
    expect(await payloads(place)).toEqual([
      ['issue_handback', { issue: 'BAT-1', note: 'the door is mended', reason: 'done' }],
      ['issue_handback', { issue: 'BAT-1' }],
    ]);
  });
});

describe.concurrent('baton steer', liveTest, () => {
  // @conforms runs.80
  it('is refused at once without a daemon, with the next step, and stores nothing', async () => {
    using place = await placeWithStore();
    const refused = await refusal(place, 'steer', 'BAT-1', 'mind', 'the  step');
    expect(refused).toMatchObject({ code: 'command_refused', details: { code: 'no_daemon' } });
    expect(JSON.stringify(refused)).toContain('baton start');
    expect(await payloads(place)).toEqual([]);
  });

  it('is refused with an empty or too long message', async () => {
    using place = await placeWithStore();
    expect(await refusal(place, 'steer', 'BAT-1', ' ')).toMatchObject({ code: 'usage_error' });
    expect(await refusal(place, 'steer', 'BAT-1', 'x'.repeat(102_401))).toMatchObject({ code: 'usage_error' });
    expect(await batonHere(place, 'steer', 'BAT-1')).toMatchObject({ code: 2, stdout: '' });
    const script = `head -c 200000 /dev/zero | ${batonCommand('steer', 'BAT-1', '-', '--json')}`;
    expect(await startProgram(place, 'sh', ['-c', script]).ended).toMatchObject({ code: 1 });
    expect(await payloads(place)).toEqual([]);
  });
});
