// @module-tag full
import { expect, it } from 'vitest';
import { answer, startDaemon, stopDaemon } from '../cli/live-daemon.ts';
import { commitFilesOf, publishedProjects } from '../cli/published-projects.ts';
import { leaveNoPlaces } from '../cli/run-baton.ts';
import { type Scenario, shell, type ToolCall } from '../fake/openai/scenario.ts';
import { patiently } from '../fault/patience.ts';
import { leftIn } from '../fault/process-watch.ts';
import { describeWithCodex } from './codex-binary.ts';
import { e2eScene } from './e2e-scene.ts';

leaveNoPlaces();

const board = { tracker: 'kind: board' };
const byTool = (name: string, args: object): ToolCall => ({ name, arguments: { ...args } });
const done = { message: 'Done.' };

await describeWithCodex('what the real Codex proposes', (codex) => {
  for (const project of publishedProjects) {
    // @conforms 4.138, setup.2
    it.skipIf(!project.isHere)(
      `are the commands of a published ${project.language} project, proven by running them`,
      { timeout: 300_000 },
      async () => {
        const { wrong, right, proof } = project;
        const scenario: Scenario = {
          rules: [
            {
              when: /how this repository is built, tested and linted/,
              steps: [
                { calls: [shell('touch only-here && ls')] },
                { calls: [byTool('propose_setup', wrong)] },
                { calls: [byTool('propose_setup', right)] },
                done,
              ],
            },
          ],
        };
        await using scene = await e2eScene(codex, scenario, board);
        const { model, place, source } = scene;
        await commitFilesOf(project, source);
        const before = place.read('WORKFLOW.md');
        const daemon = await startDaemon(place);
        const { task, diff } = await answer(place, 'setup', '--wait');
        expect([task.status, task.setup.setup.run], daemon.stderr()).toEqual(['proposed', right.setup]);
        expect(task.setup.checks).toMatchObject(right.checks.map((each) => ({ ...each, exit_code: 0 })));
        expect(task.setup.checks[0].output).toMatch(proof);
        expect(diff).toContain(`+${right.notes}`);
        expect(place.read('WORKFLOW.md')).toBe(before);
        await scene.untilQuiet(daemon);
        expect(scene.runs()).toMatchObject([{ role: 'setup', outcome: 'succeeded' }]);
        // The model heard how the wrong command ended.
        expect(model.requests.at(-1)?.conversation.memory).toContain('setup_not_proven');
        await stopDaemon(daemon);
        expect(leftIn(place.folder)).toEqual([]);
      },
    );
  }

  // @conforms 4.134, 4.137
  it('are issues for a text, and the parts of one of them', { timeout: 300_000 }, async () => {
    const issue = { description: 'Somebody wants this.', acceptance_criteria: ['It greets.'] };
    const issues = [
      { ...issue, title: 'Greet in two languages', labels: ['needs-planning'] },
      { ...issue, title: 'Say Hello', duplicate_of: 'BAT-1' },
    ];
    const subtasks = [
      { title: 'Say Hello', description: 'In English.', acceptance_criteria: ['It says Hello.'] },
      { title: 'Say Bonjour', description: 'In French.', blocked_by: [1] },
    ];
    const scenario: Scenario = {
      rules: [
        {
          when: /You turn a text into issues/,
          steps: [{ calls: [shell('cat greet.sh')] }, { calls: [byTool('propose_issues', { issues })] }, done],
        },
        {
          when: /You plan an issue/,
          steps: [{ calls: [byTool('create_subtasks', { summary: 'In two', subtasks })] }, done],
        },
      ],
      // The workers of the parts.
      otherwise: [{ message: 'Let me', fault: { kind: 'hang' } }],
    };
    const planner = { ...board, more: ['planner: {enabled: true}'] };
    await using scene = await e2eScene(codex, scenario, planner);
    const { place } = scene;
    await answer(place, 'issue', 'add', 'Mend the greeting', '--status', 'backlog');
    place.write('notes.md', 'We want to greet in English and in French.\n');
    const daemon = await startDaemon(place);
    const { task } = await answer(place, 'intake', 'notes.md', '--wait');
    expect(task, daemon.stderr()).toMatchObject({ status: 'proposed', open: 2 });
    expect(task.issues).toMatchObject([{ duplicate_of: null }, { duplicate_of: { identifier: 'BAT-1' } }]);
    expect((await answer(place, 'intake', 'accept', task.id)).command.data).toMatchObject({ filed: ['BAT-2'] });
    await answer(place, 'intake', 'refuse', task.id);
    const statuses = async () =>
      (await answer(place, 'issue', 'list')).issues
        .map(({ identifier, title, status }: Record<string, string>) => `${identifier} ${title}: ${status}`)
        .toSorted();
    await patiently(async () =>
      expect(await statuses(), daemon.stderr()).toEqual([
        'BAT-1 Mend the greeting: backlog',
        'BAT-2 Greet in two languages: blocked',
        'BAT-3 Say Hello: in_progress',
        'BAT-4 Say Bonjour: todo',
      ]),
    );
    // The first part may begin while the planner says its last words.
    await patiently(() =>
      expect(scene.runs().map(({ role, outcome }) => [role, outcome])).toEqual([
        ['intake', 'succeeded'],
        ['planner', 'succeeded'],
        ['worker', null],
      ]),
    );
    await stopDaemon(daemon);
    expect(leftIn(place.folder)).toEqual([]);
  });
});
