// @module-tag full
import { existsSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { filesWith, secretKey } from '../cli/linear-scene.ts';
import { answer, startDaemon, stopDaemon } from '../cli/live-daemon.ts';
import { baton, leaveNoPlaces } from '../cli/run-baton.ts';
import { startFakeLinear } from '../fake/linear/fake-linear.ts';
import { type Scenario, type Step, shell, type ToolCall } from '../fake/openai/scenario.ts';
import { withoutNamespaces } from '../fake/without-namespaces.ts';
import { patiently } from '../fault/patience.ts';
import { leftIn } from '../fault/process-watch.ts';
import { git } from '../workspace/git/scratch-repository.ts';
import { type CodexBinary, describeWithCodex } from './codex-binary.ts';
import { type E2eScene, e2eScene } from './e2e-scene.ts';

leaveNoPlaces();

const e2eTest = { timeout: 240_000 };

/** The tokens that the fake model counts for each answer. */
const tokensOfAnswer = 120;

const edit = shell('echo "echo Hello" > greet.sh');
const runTests = shell('sh test.sh');
const commitOnce = shell('git add -A && { git diff --cached --quiet || git commit --quiet --message "Say hello"; }');
const done: Step = { message: 'The greeting is mended.' };
const thinksForEver: Step = { message: 'Let me', fault: { kind: 'hang' } };

const byDynamicTool = (name: string, args: Record<string, unknown>): ToolCall => ({ name, arguments: args });
const byMcp = (name: string, args: Record<string, unknown>): ToolCall => ({
  namespace: 'mcp__baton',
  name,
  arguments: args,
});

/** The model starts with the first steps and, after an interruption, continues with the others. */
function interrupted(first: readonly Step[], then: readonly Step[]): Scenario {
  return {
    rules: [
      { when: /Work on BAT-1/, steps: first },
      { when: /^Continuation guidance/, steps: then },
    ],
  };
}

/** Checks the end state for any tracker: one commit, one thread, one agent, every token once. */
async function checkWork(scene: E2eScene, killedAfter: number): Promise<void> {
  const { place, model, source, watch } = scene;
  expect(git(source, 'log', '--format=%s', 'main..baton/bat-1')).toBe('Say hello');
  expect(scene.testsOn('main').isGreen).toBe(false);
  expect(scene.testsOn('baton/bat-1')).toEqual({ isGreen: true, said: '1 test, all green\n' });
  expect(git(source, 'status', '--porcelain')).toBe('');

  const [first, second, ...more] = scene.runs();
  expect(more).toEqual([]);
  expect([first?.outcome, second?.outcome]).toEqual(['interrupted', 'succeeded']);
  // The thread continues: the model gets everything from before the daemon died.
  expect(second?.thread_id).toBe(first?.thread_id);
  const resumed = model.requests[killedAfter]?.conversation;
  expect(resumed?.memory).toMatch(/Work on BAT-1[\s\S]*Mend the greeting[\s\S]*Continuation guidance/);
  expect(new Set(model.requests.map(({ conversation }) => conversation.id)).size).toBe(1);

  expect(watch.overlaps).toEqual([]);
  expect(watch.mostRuns).toBe(1);
  expect([...watch.lives.keys()].toSorted()).toEqual([first?.run_id, second?.run_id].toSorted());

  // A cut answer does not count, and Codex reports the total of the whole thread when it resumes it.
  const [before, after] = [killedAfter - 1, model.requests.length - killedAfter];
  expect([first?.total_tokens, second?.total_tokens]).toEqual([before, after].map((each) => each * tokensOfAnswer));
  expect(scene.query('select sum(total_tokens) as total, sum(runs) as runs from usage')).toEqual([
    { total: (before + after) * tokensOfAnswer, runs: 2 },
  ]);

  for (const run of [first, second]) {
    const events = await scene.transcript(run?.run_id);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    expect(events.find(({ name }) => name !== 'stage_changed')).toMatchObject({
      name: 'session_started',
      summary: expect.stringContaining(String(first?.thread_id)),
    });
  }
  const { stdout } = await baton(place, 'runs', 'log', String(second?.run_id));
  expect(stdout.trimEnd().split('\n')).toHaveLength((await scene.transcript(second?.run_id)).length);
  for (const text of ['sh test.sh', 'git commit', 'update_issue_status', 'The greeting is mended.'])
    expect(stdout).toContain(text);
  expect(leftIn(place.folder)).toEqual([]);
}

await describeWithCodex('an issue from its tracker to review', (codex: CodexBinary) => {
  const board = 'kind: board';

  it.each([
    ['with dynamic tools', byDynamicTool, []],
    [
      'with tools over MCP, and write access to its workspace and git directory only',
      byMcp,
      [
        'tools: mcp',
        'turn_sandbox_policy: {type: workspaceWrite, writableRoots: [], networkAccess: false, excludeTmpdirEnvVar: true, excludeSlashTmp: true}',
      ],
    ],
  ] as const)(
    'on the board, %s: the daemon is killed while the model thinks, and the thread continues to one commit',
    e2eTest,
    async (_, call, more) => {
      const finish = [
        { calls: [runTests] },
        { calls: [commitOnce] },
        { calls: [call('update_issue_status', { status: 'review' })] },
        done,
      ];
      const scenario = interrupted([{ calls: [edit] }, thinksForEver], finish);
      await using scene = await e2eScene(codex, scenario, { tracker: board, codex: more });
      const { place, source } = scene;
      await answer(place, 'issue', 'add', 'Mend the greeting');
      const first = await startDaemon(place);
      await scene.untilAsked(2, first);
      await scene.untilCounted(tokensOfAnswer, first);
      await scene.kill(first);
      // After the edit, before the commit.
      expect(place.read('workspaces/BAT-1/greet.sh')).toBe('echo Hello\n');
      expect(git(source, 'rev-list', '--count', '--all')).toBe('2');

      const second = await startDaemon(place);
      await patiently(() =>
        expect(scene.query('select status from board_issues'), second.stderr()).toEqual([{ status: 'review' }]),
      );
      await scene.untilQuiet(second);
      await stopDaemon(second);
      await checkWork(scene, 2);
    },
  );

  // @conforms real.24
  it(
    'killed at every step, restart after restart: it reaches review with one commit, in one thread',
    e2eTest,
    async () => {
      const steps: readonly Step[] = [
        { calls: [edit] },
        { calls: [runTests] },
        { calls: [commitOnce] },
        { calls: [byDynamicTool('update_issue_status', { status: 'review' })] },
      ];
      await using scene = await e2eScene(codex, {}, { tracker: board });
      const { place, model, source, watch } = scene;
      await answer(place, 'issue', 'add', 'Mend the greeting');
      for (let answers = 0; answers <= steps.length; answers += 1) {
        model.play({ otherwise: [...steps.slice(0, answers), thinksForEver] });
        const before = model.requests.length;
        const daemon = await startDaemon(place);
        await scene.untilAsked(before + answers + 1, daemon);
        await scene.untilCounted(answers * tokensOfAnswer, daemon);
        await scene.kill(daemon);
      }
      const asked = model.requests.length;
      const last = await startDaemon(place);
      await scene.untilQuiet(last);
      await patiently(() =>
        expect(scene.query('select * from claims where owner is not null'), last.stderr()).toEqual([]),
      );
      await patiently(() => expect(git(source, 'branch', '--list', 'baton/bat-1'), last.stderr()).not.toBe(''));
      await stopDaemon(last);

      expect(scene.query('select status from board_issues')).toEqual([{ status: 'review' }]);
      expect(git(source, 'log', '--format=%s', 'main..baton/bat-1')).toBe('Say hello');
      expect(scene.testsOn('baton/bat-1').isGreen).toBe(true);
      const runs = scene.runs();
      expect(runs.map(({ outcome }) => outcome)).toEqual(Array(steps.length + 1).fill('interrupted'));
      expect(new Set(runs.map((run) => run.thread_id)).size).toBe(1);
      expect(runs.map((run) => run.total_tokens)).toEqual(runs.map((_, answers) => answers * tokensOfAnswer));
      // No agent works on an issue in review.
      expect(model.requests).toHaveLength(asked);
      expect(model.requests.at(-1)?.conversation.memory).toMatch(/Work on BAT-1(?:[\s\S]*Continuation guidance){4}/);
      expect(watch.overlaps).toEqual([]);
      expect(leftIn(place.folder)).toEqual([]);
    },
  );

  // @conforms real.25
  it(
    'on Linear: the daemon is killed while a command runs, a process survives, and the next daemon ends it first',
    e2eTest,
    async () => {
      await using linear = await startFakeLinear({ apiKey: secretKey });
      const tests = shell(`(setsid sh -c 'touch "$TMPDIR/begun"; exec sleep 300' &); sleep 300`);
      const finish = [
        { calls: [runTests] },
        { calls: [commitOnce] },
        { calls: [byDynamicTool('comment', { body: 'It says hello now.' })] },
        { calls: [byDynamicTool('update_issue_status', { status: 'In Review' })] },
        done,
      ];
      const start = { calls: [byDynamicTool('update_issue_status', { status: 'In Progress' })] };
      const scenario = interrupted([start, { calls: [edit] }, { calls: [tests] }], finish);
      await using scene = await e2eScene(codex, scenario, {
        tracker: `kind: linear, project_slug: baton, provider: {endpoint: "${linear.url}", api_key: $LINEAR_API_KEY}`,
        // Its own sandbox would end leftover processes of a command.
        codex: ['thread_sandbox: danger-full-access'],
        env: { LINEAR_API_KEY: secretKey, ...withoutNamespaces },
      });
      const { place } = scene;
      const { identifier } = linear.addIssue({ title: 'Mend the greeting' });
      expect(identifier).toBe('BAT-1');
      const first = await startDaemon(place);
      await patiently(() => expect(existsSync(path.join(place.temporary, 'begun')), first.stderr()).toBe(true));
      // Codex reports the tokens of an answer when the calls in it have ended.
      await scene.untilCounted(2 * tokensOfAnswer, first);
      await scene.kill(first);
      // Codex exits when its input is closed; a process in its own session survives, and only the next daemon can end it.
      expect(leftIn(place.folder).join('\n')).toContain('sleep 300');
      expect(linear.stateOf(identifier)).toBe('In Progress');

      const second = await startDaemon(place);
      await patiently(() => expect(linear.stateOf(identifier), second.stderr()).toBe('In Review'));
      await scene.untilQuiet(second);
      await stopDaemon(second);
      expect(linear.commentsOf(identifier)).toHaveLength(1);
      await checkWork(scene, 3);
      expect(linear.complaints).toEqual([]);
      expect(filesWith(place.folder, secretKey)).toEqual([]);
    },
  );
});
