import { describe, expect, it } from 'vitest';
import { BatonError } from '../../src/core/baton-error.ts';
import type { IssueEditor } from '../../src/tracker/tracker.ts';
import { onEngine } from '../conformance/store.ts';
import { issue } from '../fake/issues.ts';
import { settings } from '../fake/settings.ts';
import { engines } from '../store/engines.ts';
import { begun, type Scene, scene } from './scene.ts';

const person = { kind: 'person', name: 'ann' } as const;
const keyOf = ({ project }: Scene) => ({ project, issueId: '1' });
const stored = (stage: Scene) => stage.store.messages.list(keyOf(stage), 9);

/** Moves issue 1, and refuses every other move than to these states. */
function editor(allowed: readonly string[]): IssueEditor {
  const never = async () => Promise.reject(new Error('not in this test'));
  return {
    states: ['Todo', 'Done'],
    movesFrom: () => [],
    idOf: async () => '1',
    move: async (_issue, to) => {
      if (!allowed.includes(to)) throw new BatonError('board_move_refused', 'not there');
      return { issue: 'T-1', moved: true };
    },
    comment: never,
    file: never,
    edit: never,
  };
}

describe('the reason of a move', () => {
  it('to an active state is a message, with its author', async () => {
    const stage = await begun({ issueEditor: editor(['Todo']) });
    expect(await stage.command('issue_move', { issue: 'T-1', to: 'todo', reason: 'refused' })).toMatchObject({
      status: 'refused',
      code: 'board_move_refused',
    });
    await stage.command('issue_move', { issue: 'T-1', to: 'Todo' });
    expect(await stored(stage)).toEqual([]);
    await stage.command('issue_move', { issue: 'T-1', to: 'Todo', reason: ' The door still creaks. ' });
    expect(await stored(stage)).toMatchObject([
      { kind: 'reason', body: 'The door still creaks.', author: { kind: 'person' }, givenTo: null, settledAt: null },
    ]);
  });

  it('to another state is none', async () => {
    const stage = await begun({ issueEditor: editor(['Done']) });
    expect(await stage.command('issue_move', { issue: 'T-1', to: 'Done', reason: 'fine' })).toMatchObject({
      status: 'done',
    });
    expect(await stored(stage)).toEqual([]);
  });
});

it.each(['issue_retry', 'issue_release'])('the note of %s is refused for a finished issue', async (kind) => {
  const stage = await begun();
  stage.runs[0]?.succeed();
  await stage.tracker.changes.moveIssue('1', 'Done', person);
  await stage.clock.advance(60_000);
  expect(await stage.command(kind, { issue: '1', note: 'one thing more' })).toMatchObject({
    status: 'refused',
    code: 'issue_not_active',
  });
  expect(await stored(stage)).toEqual([]);
});

it('the note of a release reaches the next run', async () => {
  const stage = await begun();
  await stage.command('issue_stop', { issue: '1' });
  stage.runs[0]?.end();
  await stage.clock.advance(0);
  expect(await stage.command('issue_release', { issue: '1', note: 'go on' })).toMatchObject({ code: 'released' });
  await stage.clock.advance(10_000);
  expect(stage.runs[1]?.request.messages).toMatchObject([{ body: 'go on' }]);
});

it('more words than a prompt should have wait for the run after it', async () => {
  const stage = await begun();
  for (const id of ['a', 'b', 'c'])
    await stage.store.messages.leave(keyOf(stage), {
      id,
      at: 0,
      kind: 'note',
      author: person,
      body: id.repeat(90_000),
    });
  const good = async (): Promise<void> => {
    stage.runs.at(-1)?.request.report({ kind: 'prompt_delivered', hasComments: true });
    stage.runs.at(-1)?.succeed();
    await stage.clock.advance(10_000);
  };
  await good();
  await good();
  await good();
  const got = stage.runs.slice(1).map(({ request }) => request.messages.map(({ id }) => id));
  expect(got).toEqual([['a', 'b'], ['c'], []]);
});

describe('the comments that a run reads', () => {
  it('begin with the start of the last run that ended well and knew the comments before it', async () => {
    const stage = await begun({ settings: settings({ agent: { maxRetries: 9, maxStaleRuns: 9 } }) });
    const sinces = (): (number | null)[] => stage.runs.map(({ request }) => request.commentsSince);
    const run = async (how: 'succeed' | 'fail', hasComments: boolean): Promise<number> => {
      const [latest] = await stage.store.runs.list(stage.project, { limit: 1 });
      stage.runs.at(-1)?.request.report({ kind: 'prompt_delivered', hasComments });
      stage.runs.at(-1)?.[how]();
      await stage.clock.advance(400_000);
      return latest?.startedAt ?? 0;
    };
    const first = await run('fail', true);
    const second = await run('succeed', true);
    await run('succeed', false);
    const fourth = await run('succeed', true);
    expect(sinces()).toEqual([null, first, second, second, fourth]);
  });
});

for (const engine of engines) {
  onEngine(engine, 'gives a message to one run at a time', ({ open }) => {
    it('with two daemons on one store', async () => {
      const store = await open();
      const more = { isShared: true, settings: settings({ intervalMs: 5_000 }) };
      const one = await scene({ ...more, store, issues: [issue({ id: '1' })], owner: 'one' });
      const author = person;
      await store.messages.leave(keyOf(one), { id: 'm', at: 0, kind: 'note', author, body: 'once' });
      const other = await scene({ ...more, store, clock: one.clock, tracker: one.tracker, owner: 'other' });
      await Promise.all([one.orchestrator.start(), other.orchestrator.start()]);
      // PostgreSQL answers in its own time.
      await expect
        .poll(async () => {
          await one.clock.advance(5_000);
          return [...one.runs, ...other.runs].length;
        })
        .toBe(1);
      for (let turn = 0; turn < 5; turn += 1) await one.clock.advance(5_000);
      const runs = [...one.runs, ...other.runs];
      expect(runs.map(({ request }) => request.messages.map(({ body }) => body))).toEqual([['once']]);
      runs[0]?.request.report({ kind: 'prompt_delivered', hasComments: true });
      runs[0]?.succeed();
      await expect
        .poll(async () => {
          await one.clock.advance(5_000);
          return (await store.messages.list(keyOf(one), 9))[0]?.settledAt ?? null;
        })
        .not.toBeNull();
      for (const stage of [one, other]) stage.kill();
    });
  });
}
