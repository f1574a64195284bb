import { expect, it } from 'vitest';
import type { Author } from '../../src/core/issue/author.ts';
import { commentsSince } from '../../src/tools/comments-since.ts';
import type { TextTrust } from '../../src/tools/tool.ts';
import { MemoryTracker } from '../../src/tracker/memory/memory-tracker.ts';
import { issue } from '../fake/issues.ts';
import { SimulatedClock } from '../fake/simulated-clock.ts';

const trust: TextTrust = {
  ofIssue: async (given) => given,
  ofComments: async (said) => said,
  note: async () => {},
};

async function stage(trustedAuthors: readonly string[] = ['local']) {
  const clock = new SimulatedClock();
  const tracker = new MemoryTracker({ issues: [issue({ id: '1' })], states: ['Todo', 'Done'], clock });
  const signal = new AbortController().signal;
  return {
    clock,
    tracker,
    say: (author: Author, body: string) => tracker.changes.addComment('1', body, author),
    read: (since: number) => commentsSince({ tracker, trust, trustedAuthors, clock }, { issueId: '1', since }, signal),
  };
}

const ann = { kind: 'person', name: 'ann' } as const;

it('has the comments of people since then, and none of runs or of Baton', async () => {
  const { clock, say, read } = await stage();
  await say(ann, 'old');
  await clock.advance(600_000);
  const since = clock.now();
  await say(ann, 'new');
  await say({ kind: 'run', runId: 'r1' }, 'I did it.');
  await say({ kind: 'orchestrator' }, 'It is held.');
  expect((await read(since)).comments).toMatchObject([{ author: 'ann', body: 'new', isTrusted: true }]);
  expect((await read(0)).comments.map(({ body }) => body)).toEqual(['old', 'new']);
});

it('has a comment of just before, because the clock of a tracker may be behind', async () => {
  const { clock, say, read } = await stage();
  await say(ann, 'new');
  expect((await read(clock.now() + 60_000)).comments).toHaveLength(1);
});

it('trusts no one whom the workflow file does not name', async () => {
  const { say, read } = await stage([]);
  await say(ann, 'new');
  expect((await read(0)).comments).toMatchObject([{ isTrusted: false }]);
});

it('rejects when the tracker does not answer in time, and ends the request', async () => {
  const { clock, tracker, read } = await stage();
  const asked: AbortSignal[] = [];
  tracker.fetchComments = (_id, ask) => {
    if (ask?.signal !== undefined) asked.push(ask.signal);
    return new Promise(() => {});
  };
  const reading = expect(read(0)).rejects.toMatchObject({ code: 'tracker_request' });
  await clock.advance(60_000);
  await reading;
  expect(asked.map(({ aborted }) => aborted)).toEqual([true]);
});
