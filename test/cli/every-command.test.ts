// @module-tag full
import { expect, it } from 'vitest';
import { boardWorkflow, liveTest, startDaemon, untilStatus } from './live-daemon.ts';
import { baton, leaveNoPlaces, Place } from './run-baton.ts';

leaveNoPlaces();

const script = ['```rehearsal', 'ask Which colour?', '| red', '| blue', 'run touch chosen', 'wait 60000', '```'].join(
  '\n',
);

/** A person's day beside a daemon. Each line is one command; those of a list do not wait for each other. */
const dayOfCommands: readonly (readonly (readonly string[])[])[] = [
  [['ask', 'answer', 'BAT-1', 'blue']],
  [
    ['status'],
    ['explain', 'BAT-1'],
    ['requests'],
    ['jobs'],
    ['prompts', 'list'],
    ['board'],
    ['ask', 'list', '--all'],
    ['ask', 'show', 'BAT-1'],
    ['runs', 'list'],
    ['runs', 'show', 'BAT-1'],
    ['runs', 'log', 'BAT-1'],
    ['issue', 'list'],
    ['issue', 'show', 'BAT-1'],
    ['workspace', 'list'],
    ['salvage', 'list'],
    ['salvage', 'prune', '--older-than', '1'],
  ],
  [['pause']],
  [
    ['issue', 'add', 'A second title'],
    ['issue', 'comment', 'BAT-1', 'hello'],
    ['steer', 'BAT-1', 'mind the step'],
    ['workspace', 'pin', 'BAT-1'],
  ],
  [
    ['issue', 'import', 'tickets.jsonl'],
    ['issue', 'edit', 'BAT-2', '--title', 'Another title'],
    ['issue', 'block', 'BAT-2', '--by', 'BAT-1'],
    ['workspace', 'unpin', 'BAT-1'],
  ],
  [
    ['issue', 'unblock', 'BAT-2', '--by', 'BAT-1'],
    ['workspace', 'prune', '--dry-run'],
    ['prune', '--dry-run'],
    ['takeover', 'BAT-1'],
  ],
  [
    ['issue', 'hold', 'BAT-2'],
    ['handback', 'BAT-1'],
  ],
  [
    ['issue', 'release', 'BAT-2'],
    ['issue', 'retry', 'BAT-1'],
  ],
  [['issue', 'move', 'BAT-2', 'cancelled'], ['resume']],
  [
    ['issue', 'stop', 'BAT-1'],
    ['backup', 'everything.baton'],
  ],
  // Nothing is left that a drain would wait for.
  ['BAT-1', 'BAT-3'].map((identifier) => ['issue', 'move', identifier, 'cancelled']),
  [['drain']],
];

// @conforms toolchain.12
it(
  'every command that works next to a daemon ends by itself, with exit code 0 and an empty stderr',
  liveTest,
  async () => {
    using place = new Place();
    const agent = 'agent: {backend: rehearsal, approvals: ask}';
    place.write('WORKFLOW.md', boardWorkflow().replace(/^agent: .*$/m, agent));
    place.write('tickets.jsonl', JSON.stringify({ title: 'A third title' }));
    const run = async (args: readonly string[]): Promise<void> => {
      const { code, stderr, stdout } = await baton(place, ...args, '--json');
      expect({ args, code, stderr, stdout }).toMatchObject({
        code: 0,
        stderr: '',
        stdout: expect.stringMatching(/^\{/),
      });
    };
    await run(['issue', 'add', 'A title', '--description', script]);
    const daemon = await startDaemon(place);
    await untilStatus(place, { questions: [{ issue_identifier: 'BAT-1' }] });
    for (const together of dayOfCommands) await Promise.all(together.map(run));
    expect(await daemon.ended).toMatchObject({ code: 0 });
    await run(['restore', 'everything.baton', '--replace']);
    await run(['store', 'copy', '--to', `sqlite:${place.folder}/copy.db`]);
    expect(place.pids()).toEqual([]);
  },
);
