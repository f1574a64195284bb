// @module-tag full
import { expect, it } from 'vitest';
import { answer, startDaemon, stopDaemon } from '../cli/live-daemon.ts';
import { leaveNoPlaces } from '../cli/run-baton.ts';
import { fakeModelVariables } from '../fake/anthropic/claude-home.ts';
import { startFakeAnthropic } from '../fake/anthropic/fake-anthropic.ts';
import { type Scenario, type Step, shell } from '../fake/openai/scenario.ts';
import { patiently } from '../fault/patience.ts';
import { leftIn } from '../fault/process-watch.ts';
import { git } from '../workspace/git/scratch-repository.ts';
import { describeWithClaude } from './claude-binary.ts';
import { describeWithCodex } from './codex-binary.ts';
import { e2eScene } from './e2e-scene.ts';

leaveNoPlaces();

const commits = (content: string): Step[] => [
  { calls: [shell(`echo '${content}' > greet.sh && git commit --quiet --all --message "${content}"`)] },
  { message: 'It is committed.' },
];

/** Codex greets with another word when it hears of the finding. */
const work: Scenario = {
  rules: [
    { when: /It greets with Hi/, steps: commits('echo Hello') },
    { when: /Work on BAT-1/, steps: commits('echo Hi') },
  ],
};

const finding = { file: 'greet.sh', line: 1, problem: 'It greets with Hi.', wanted: 'It greets with Hello.' };

/** Claude sees the change in its prompt, and decides by tool. */
const judgement: Scenario = {
  rules: [
    {
      when: /You judge commit[\s\S]*\+echo Hello/,
      steps: [
        { calls: [{ name: 'mcp__baton__approve_pr', arguments: { summary: 'It says Hello.' } }] },
        { message: 'Done.' },
      ],
    },
    {
      when: /You judge commit[\s\S]*\+echo Hi/,
      steps: [
        {
          calls: [{ name: 'mcp__baton__reject_pr', arguments: { summary: 'The word is wrong.', findings: [finding] } }],
        },
        { message: 'Done.' },
      ],
    },
  ],
};

await describeWithClaude('a change of the real Codex', async (claude) => {
  await describeWithCodex('under the judgement of the real Claude Code', (codex) => {
    // @conforms judge.6
    it('is rejected once with a finding, revised, approved, and merged by a person', { timeout: 300_000 }, async () => {
      await using judge = await startFakeAnthropic(judgement);
      await using scene = await e2eScene(codex, work, {
        tracker: 'kind: board',
        agent: ['after_success: review'],
        more: [
          'agents: {reviewer: {backend: claude}}',
          `claude: {command: "'${claude.path}'", model: claude-opus-5-5}`,
          'judge: {agents: [reviewer]}',
        ],
        env: fakeModelVariables(judge.url),
      });
      const { place, source, watch } = scene;
      git(source, 'checkout', '--quiet', '--detach');
      git(source, 'config', 'user.name', 'A Person');
      git(source, 'config', 'user.email', 'person@example.invalid');
      await answer(place, 'issue', 'add', 'Mend the greeting');
      const daemon = await startDaemon(place);
      await patiently(async () => {
        const { pull } = await answer(place, 'pr', 'show', 'BAT-1');
        expect(pull, daemon.stderr()).toMatchObject({ status: 'in_review', judge: 'approved', times_sent_back: 1 });
      });
      const { pull } = await answer(place, 'pr', 'show', 'BAT-1');
      expect(pull.rounds).toMatchObject([
        { sent_back: { kind: 'judge' }, verdicts: [{ verdict: 'rejected', agent: 'reviewer', findings: [finding] }] },
        { sent_back: null, verdicts: [{ verdict: 'approved', agent: 'reviewer' }] },
      ]);
      expect((await answer(place, 'pr', 'merge', 'BAT-1')).command).toMatchObject({ code: 'change_merged' });
      expect(git(source, 'show', 'main:greet.sh')).toBe('echo Hello');
      expect((await answer(place, 'issue', 'show', 'BAT-1')).issue.status).toBe('done');
      await scene.untilQuiet(daemon);
      await stopDaemon(daemon);
      const runs = scene.runs();
      expect(runs.map(({ role, agent, outcome }) => [role, agent, outcome])).toEqual([
        ['worker', 'default', 'succeeded'],
        ['judge', 'reviewer', 'succeeded'],
        ['worker', 'default', 'succeeded'],
        ['judge', 'reviewer', 'succeeded'],
      ]);
      // The worker continues its conversation; each judge has one of its own.
      expect(new Set(runs.map(({ thread_id }) => thread_id)).size).toBe(3);
      expect(runs[2]?.thread_id).toBe(runs[0]?.thread_id);
      expect(watch.overlaps).toEqual([]);
      expect(leftIn(place.folder)).toEqual([]);
    });
  });
});
