// @module-tag full
import { expect, it } from 'vitest';
import { answer, refusal, startDaemon, stopDaemon } from '../cli/live-daemon.ts';
import { leaveNoPlaces, type RunningBaton } from '../cli/run-baton.ts';
import { type Scenario, type Step, shell } from '../fake/openai/scenario.ts';
import { patiently } from '../fault/patience.ts';
import { leftIn } from '../fault/process-watch.ts';
import { git } from '../workspace/git/scratch-repository.ts';
import { type CodexBinary, describeWithCodex } from './codex-binary.ts';
import { type E2eScene, e2eScene } from './e2e-scene.ts';

leaveNoPlaces();

const reviewTest = { timeout: 240_000 };

const does = (command: string): Step[] => [{ calls: [shell(command)] }, { message: 'It is committed.' }];
const writes = (content: string, file: string): string =>
  `echo '${content}' > ${file} && git add ${file} && git commit --quiet --message "${content}"`;

async function scene(codex: CodexBinary, scenario: Scenario, more: readonly string[] = []): Promise<E2eScene> {
  const made = await e2eScene(codex, scenario, { tracker: 'kind: board', agent: ['after_success: review'], more });
  // The base is checked out nowhere, so Baton itself may move it.
  git(made.source, 'checkout', '--quiet', '--detach');
  git(made.source, 'config', 'user.name', 'A Person');
  git(made.source, 'config', 'user.email', 'person@example.invalid');
  return made;
}

// biome-ignore lint/suspicious/noExplicitAny: each test checks the part it is about.
async function untilPull({ place }: E2eScene, daemon: RunningBaton, issue: string, parts: object): Promise<any> {
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  let pull: any;
  await patiently(async () => {
    ({ pull } = await answer(place, 'pr', 'show', issue));
    expect(pull, daemon.stderr()).toMatchObject(parts);
    expect((await answer(place, 'issue', 'show', issue)).issue.status).toBe('review');
  });
  return pull;
}

await describeWithCodex('a change under review', (codex: CodexBinary) => {
  it(
    'with a red check is fixed in its second round, gets the words of a person in its third, and is merged',
    reviewTest,
    async () => {
      const scenario: Scenario = {
        rules: [
          { when: /Greet twice, please/, steps: does(writes('echo Hello # twice', 'greet.sh')) },
          { when: /greet\.sh said Hi/, steps: does(writes('echo Hello', 'greet.sh')) },
          { when: /Work on BAT-1/, steps: does(writes('echo Hi', 'greet.sh')) },
        ],
      };
      await using stage = await scene(codex, scenario, ['review: {checks: [sh test.sh]}']);
      const { place, source, model } = stage;
      await answer(place, 'issue', 'add', 'Mend the greeting');
      const daemon = await startDaemon(place);
      const second = await untilPull(stage, daemon, 'BAT-1', {
        status: 'in_review',
        checks: 'green',
        times_sent_back: 1,
      });
      expect(second.rounds).toMatchObject([
        { sent_back: { kind: 'check' }, checks: [{ result: 'failed' }] },
        { sent_back: null, checks: [{ result: 'passed' }] },
      ]);
      await answer(place, 'pr', 'send-back', 'BAT-1', 'Greet twice, please.');
      await untilPull(stage, daemon, 'BAT-1', { status: 'in_review', checks: 'green', times_sent_back: 2 });
      expect((await answer(place, 'pr', 'merge', 'BAT-1')).command).toMatchObject({ code: 'change_merged' });
      expect(git(source, 'show', 'main:greet.sh')).toBe('echo Hello # twice');
      expect((await answer(place, 'issue', 'show', 'BAT-1')).issue.status).toBe('done');
      await stopDaemon(daemon);
      const runs = stage.runs();
      expect(runs.map(({ retry_kind, outcome }) => [retry_kind, outcome])).toEqual([
        [null, 'succeeded'],
        ['revision', 'succeeded'],
        ['revision', 'succeeded'],
      ]);
      // One conversation, to its end.
      expect(new Set(runs.map(({ thread_id }) => thread_id)).size).toBe(1);
      expect(model.requests.at(-1)?.conversation.memory).toMatch(/Work on BAT-1[\s\S]*said Hi[\s\S]*Greet twice/);
      expect(leftIn(place.folder)).toEqual([]);
    },
  );

  it('that conflicts with one merged before is rebased by its agent, and merged', reviewTest, async () => {
    const rebase = [
      'git fetch --quiet origin',
      "git rebase --quiet origin/main || { printf 'one\\ntwo\\n' > notes.txt && git add notes.txt && git -c core.editor=true rebase --continue; }",
    ].join(' && ');
    const scenario: Scenario = {
      rules: [
        { when: /Rebase your branch/, steps: does(rebase) },
        { when: /Work on BAT-1/, steps: does(writes('one', 'notes.txt')) },
        { when: /Work on BAT-2/, steps: does(writes('two', 'notes.txt')) },
      ],
    };
    await using stage = await scene(codex, scenario);
    const { place, source } = stage;
    for (const title of ['One', 'Two']) await answer(place, 'issue', 'add', title);
    const daemon = await startDaemon(place);
    for (const issue of ['BAT-1', 'BAT-2']) await untilPull(stage, daemon, issue, { status: 'in_review' });
    await answer(place, 'pr', 'merge', 'BAT-1');
    expect(await refusal(place, 'pr', 'merge', 'BAT-2')).toMatchObject({
      details: { data: { problem: 'conflict', files: ['notes.txt'] } },
    });
    await answer(place, 'pr', 'send-back', 'BAT-2', '--rebase');
    await untilPull(stage, daemon, 'BAT-2', { status: 'in_review', times_sent_back: 1, merge: { is_possible: true } });
    expect((await answer(place, 'pr', 'merge', 'BAT-2')).command).toMatchObject({ code: 'change_merged' });
    expect(git(source, 'show', 'main:notes.txt')).toBe('one\ntwo');
    await stopDaemon(daemon);
    expect(stage.runs()).toHaveLength(3);
  });

  it(
    'whose branch a person replaced is left alone: their commit stays, and the prompt names it',
    reviewTest,
    async () => {
      const scenario: Scenario = {
        rules: [
          { when: /Go on from here/, steps: does(writes('more', 'more.txt')) },
          { when: /Work on BAT-1/, steps: does(writes('one', 'notes.txt')) },
        ],
      };
      await using stage = await scene(codex, scenario);
      const { place, source, model } = stage;
      await answer(place, 'issue', 'add', 'One');
      const daemon = await startDaemon(place);
      const { branch } = await untilPull(stage, daemon, 'BAT-1', { status: 'in_review' });
      const theirs = git(source, 'commit-tree', '-p', 'main', '-m', 'By hand', 'main^{tree}');
      git(source, 'update-ref', `refs/heads/${branch}`, theirs);
      await untilPull(stage, daemon, 'BAT-1', { head: theirs, rounds: [{}, { run_id: null, sent_back: null }] });
      await answer(place, 'pr', 'send-back', 'BAT-1', 'Go on from here.');
      await patiently(async () => {
        const { held } = (await answer(place, 'status')).status;
        expect(held, daemon.stderr()).toMatchObject([{ issue_identifier: 'BAT-1', code: 'change_not_published' }]);
      });
      expect(git(source, 'rev-parse', branch)).toBe(theirs);
      expect((await answer(place, 'pr', 'show', 'BAT-1')).pull).toMatchObject({ head: theirs, status: 'sent_back' });
      await stopDaemon(daemon);
      expect(stage.runs()).toHaveLength(2);
      expect(model.requests.at(-1)?.conversation.memory).toContain(theirs.slice(0, 12));
    },
  );
});
