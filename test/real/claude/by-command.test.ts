// @module-tag full
import { chmodSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { answer, startDaemon, stopDaemon } from '../../cli/live-daemon.ts';
import { leaveNoPlaces, Place } from '../../cli/run-baton.ts';
import { fakeModelVariables } from '../../fake/anthropic/claude-home.ts';
import { startFakeAnthropic } from '../../fake/anthropic/fake-anthropic.ts';
import { patiently } from '../../fault/patience.ts';
import { folderOnDisk } from '../../temporary-folder.ts';
import { commit, git, scratchRepository } from '../../workspace/git/scratch-repository.ts';
import { describeWithClaude } from '../claude-binary.ts';
import { bash } from './claude-scene.ts';

leaveNoPlaces();

const page = readFileSync(new URL('../../../docs/agents/command.md', import.meta.url), 'utf8');

await describeWithClaude('the program of docs/agents/command.md that speaks MCP', (claude) => {
  it('commits its work and calls a tool of Baton', async () => {
    const [example = ''] = /^## An agent that speaks MCP\n.*?(?=^## )/ms.exec(page) ?? [];
    const program = /```sh\n(?<text>.*?)```/s.exec(example)?.groups?.text ?? '';
    await using model = await startFakeAnthropic({
      rules: [
        {
          when: /Greet the reader/,
          steps: [
            { calls: [bash('echo Hello > hello.txt && git add hello.txt && git commit --quiet --message Greet')] },
            { calls: [{ name: 'mcp__baton__comment', arguments: { body: 'The reader is greeted.' } }] },
            { message: 'done' },
          ],
        },
      ],
    });
    const variables = fakeModelVariables(model.url);
    using place = new Place({ ...variables, PATH: `${path.dirname(claude.path)}:${process.env.PATH}` }, folderOnDisk());
    const project = scratchRepository(path.join(place.folder, 'project'));
    chmodSync(place.write('project/claude-agent', program), 0o755);
    commit(project, {}, 'Add an agent');
    place.write('home/.gitconfig', '[user]\n\tname = A\n\temail = a@example.org\n');
    place.write(
      'WORKFLOW.md',
      [
        '---',
        'tracker: {kind: board}',
        'polling: {interval_ms: 300}',
        'workspace: {root: workspaces, repo: project, base: main}',
        'agent:',
        '  backend: command',
        '  command: ./claude-agent',
        '  after_success: review',
        `  env: [${Object.keys(variables).join(', ')}]`,
        '---',
        '{{ issue.title }}',
      ].join('\n'),
    );
    await answer(place, 'issue', 'add', 'Greet the reader');
    const daemon = await startDaemon(place);
    await patiently(async () => {
      expect((await answer(place, 'issue', 'show', 'BAT-1')).issue.status, daemon.stderr()).toBe('review');
    });
    await stopDaemon(daemon);
    expect(git(project, 'show', 'baton/bat-1:hello.txt')).toBe('Hello');
    const { comments } = await answer(place, 'issue', 'show', 'BAT-1');
    expect(JSON.stringify(comments)).toContain('The reader is greeted.');
    expect(place.pids()).toEqual([]);
  });
});
