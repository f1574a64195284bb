// @module-tag full
import { expect, it } from 'vitest';
import { answer, startDaemon, stopDaemon } from '../../cli/live-daemon.ts';
import { baton, leaveNoPlaces } from '../../cli/run-baton.ts';
import { patiently } from '../../fault/patience.ts';
import { leftIn } from '../../fault/process-watch.ts';
import { git } from '../../workspace/git/scratch-repository.ts';
import { describeWithAcp } from '../acp-programs.ts';
import { acpE2eScene } from '../e2e-scene.ts';

leaveNoPlaces();

await describeWithAcp('an issue from the board to review', (program) => {
  it('ends with one pull request and one conversation, although the daemon is killed in the middle', {
    timeout: 240_000,
  }, async () => {
    await using scene = await acpE2eScene(
      program,
      {
        rules: [
          {
            when: /^Work on BAT-1/,
            steps: [
              { calls: [program.bash('echo "echo Hello" > greet.sh')] },
              { message: 'Let me', fault: { kind: 'hang' } },
            ],
          },
          {
            when: /^Continuation guidance/,
            steps: [
              { calls: [program.bash('sh test.sh')] },
              { calls: [program.bash('git add -A && git commit --quiet --message "Say hello"')] },
              { calls: [program.own('create_pr', { title: 'Say hello', body: 'It says hello now.' })] },
              { message: 'The greeting is mended.' },
            ],
          },
        ],
      },
      { tracker: 'kind: board', agent: ['after_success: review'] },
    );
    const { place, source, watch } = scene;
    await answer(place, 'issue', 'add', 'Mend the greeting');
    const first = await startDaemon(place);
    await patiently(() =>
      expect(
        scene.model.requests.some(({ conversation }) => conversation.round === 1),
        first.stderr(),
      ).toBe(true),
    );
    await patiently(() => expect(scene.runs().at(-1)?.thread_id, first.stderr()).toEqual(expect.any(String)));
    await scene.kill(first);
    expect(place.read('workspaces/BAT-1/greet.sh')).toBe('echo Hello\n');

    const second = await startDaemon(place);
    await patiently(async () => {
      expect((await answer(place, 'issue', 'show', 'BAT-1')).issue.status, second.stderr()).toBe('review');
    });
    const { pull } = await answer(place, 'pr', 'show', 'BAT-1');
    expect(pull).toMatchObject({ status: 'in_review', title: 'Say hello' });
    await scene.untilQuiet(second);
    await stopDaemon(second);

    expect(git(source, 'log', '--format=%s', 'main..baton/bat-1')).toBe('Say hello');
    expect(scene.testsOn('baton/bat-1').isGreen).toBe(true);
    const [before, after, ...more] = scene.runs();
    expect(more).toEqual([]);
    expect([before?.outcome, after?.outcome]).toEqual(['interrupted', 'succeeded']);
    expect(after?.thread_id).toBe(before?.thread_id);
    // A title may count too, and OpenCode counts every call as much as the last one.
    expect(after?.total_tokens).toBeGreaterThanOrEqual(4 * 120);
    // codex-acp reports no cost, but a model whose price Baton knows; that of OpenCode here has none.
    expect(Number(after?.cost_micro_usd) > 0).toBe(program.preset !== 'opencode');
    expect(scene.model.requests.at(-1)?.conversation.memory).toMatch(
      /Work on BAT-1[\s\S]*Mend the greeting[\s\S]*Continuation guidance/,
    );
    expect(watch.overlaps).toEqual([]);
    const { stdout } = await baton(place, 'runs', 'log', String(after?.run_id));
    for (const text of ['sh test.sh', 'git commit', 'create_pr', 'The greeting is mended.'])
      expect(stdout).toContain(text);
    expect(leftIn(place.folder)).toEqual([]);
  });
});
