// @module-tag full
import { expect, it } from 'vitest';
import { filesWith, secretKey } from '../cli/linear-scene.ts';
import { answer, startDaemon, stopDaemon } from '../cli/live-daemon.ts';
import { leaveNoPlaces } from '../cli/run-baton.ts';
import { startFakeGithub } from '../fake/github/fake-github.ts';
import { startFakeLinear } from '../fake/linear/fake-linear.ts';
import { type Scenario, type Step, shell } from '../fake/openai/scenario.ts';
import { patiently } from '../fault/patience.ts';
import { leftIn } from '../fault/process-watch.ts';
import { git } from '../workspace/git/scratch-repository.ts';
import { type CodexBinary, describeWithCodex } from './codex-binary.ts';
import { e2eScene } from './e2e-scene.ts';

leaveNoPlaces();

const token = 'ghp_fakeTokenOfBaton0123456789';

const greets = (words: string): Step[] => [
  { calls: [shell(`echo 'echo ${words}' > greet.sh && git add greet.sh && git commit --quiet --message "${words}"`)] },
  { message: 'It is committed.' },
];

await describeWithCodex('an issue of Linear with its reviews on GitHub', (codex: CodexBinary) => {
  it('comes back for a red check and for a review comment, and is done when a person merges', {
    timeout: 240_000,
  }, async () => {
    await using linear = await startFakeLinear({ apiKey: secretKey });
    const scenario: Scenario = {
      rules: [
        { when: /Greet twice, please/, steps: greets('Hello Hello') },
        { when: /greet\.sh said Hi/, steps: greets('Hello') },
        { when: /Work on BAT-1/, steps: greets('Hi') },
      ],
    };
    await using stage = await e2eScene(codex, scenario, {
      tracker: `kind: linear, project_slug: baton, states: {in_progress: In Progress, review: In Review, done: Done}, provider: {endpoint: "${linear.url}", api_key: $LINEAR_API_KEY}`,
      agent: ['after_success: review'],
      more: ['review: {host: github, repository: acme/app, api_url: "http://127.0.0.1:9/api/v3"}'],
      env: { LINEAR_API_KEY: secretKey, GITHUB_TOKEN: token },
    });
    const { place, source, model } = stage;
    await using github = await startFakeGithub({ folder: place.folder, from: source });
    place.write('WORKFLOW.md', place.read('WORKFLOW.md').replace('http://127.0.0.1:9/api/v3', github.apiUrl));
    const { identifier } = linear.addIssue({ title: 'Mend the greeting' });
    const daemon = await startDaemon(place);
    const untilRound = (number: number, words: string) =>
      patiently(async () => {
        expect(linear.stateOf(identifier), daemon.stderr()).toBe('In Review');
        expect((await answer(place, 'pr', 'show', identifier)).pull.rounds).toHaveLength(number);
        expect(git(github.repository, 'show', `${github.pulls[0]?.branch}:greet.sh`)).toBe(`echo ${words}`);
      });
    const head = (): string => github.tip(github.pulls[0]?.branch ?? '') ?? '';

    await untilRound(1, 'Hi');
    const check = github.addCheck(head(), 'test', null);
    check.log = '2026-11-17T10:00:00.0000000Z greet.sh said Hi\n';
    check.conclusion = 'FAILURE';
    await untilRound(2, 'Hello');
    github.addCheck(head(), 'test', 'SUCCESS');
    const comments = [{ path: 'greet.sh', line: 1, body: 'Greet twice, please.' }];
    github.addReview(1, { author: 'ada', state: 'CHANGES_REQUESTED', comments });
    await untilRound(3, 'Hello Hello');
    expect(github.merge(1, 'merge', 'ada')).toBeNull();
    await patiently(() => expect(linear.stateOf(identifier), daemon.stderr()).toBe('Done'));
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
    expect(github.pulls).toMatchObject([{ state: 'MERGED' }]);
    expect([...github.complaints, ...linear.complaints]).toEqual([]);
    expect(filesWith(place.folder, token)).toEqual([]);
    expect(leftIn(place.folder)).toEqual([]);
  });
});
