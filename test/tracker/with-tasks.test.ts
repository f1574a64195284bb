import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isTaskId, type Task, type TaskStatus } from '../../src/core/task/task.ts';
import type { Tracker } from '../../src/tracker/tracker.ts';
import { withTasks } from '../../src/tracker/with-tasks.ts';
import { issue } from '../fake/issues.ts';
import { settings } from '../fake/settings.ts';

const { tracker: rules } = settings();

function task(id: string, status: TaskStatus = 'waiting'): Task {
  const author = { kind: 'person', name: 'me' } as const;
  const about = { title: `Title of ${id}`, text: 'Some text', proposal: null, error: null };
  return { id, kind: 'intake', status, ...about, author, createdAt: 1, changedAt: 2 };
}

/** A tracker that notes every id that it is asked about. */
function noting(issues = [issue({ id: '1' }), issue({ id: '2' })], asked: string[] = []) {
  const one = async (id: string) => {
    asked.push(id);
    return issues[0] ?? issue({ id });
  };
  const inner: Tracker = {
    kind: 'noting',
    fetchByStates: async () => issues,
    fetchByIds: async (ids) => {
      asked.push(...ids);
      return issues.filter(({ id }) => ids.includes(id));
    },
    fetchSnapshot: async ({ watched, welcome = [] }) => {
      asked.push(...watched, ...welcome);
      return { issues, watched: new Map(watched.map((id) => [id, issues.find((each) => each.id === id) ?? null])) };
    },
    fetchComments: async (id) => {
      await one(id);
      return { comments: [], hasEarlier: false };
    },
    fetchChildren: async (ids) => {
      asked.push(...ids);
      return new Map();
    },
    fetchWriters: async (id) => {
      await one(id);
      return [];
    },
    changes: {
      moveIssue: one,
      addComment: async (id) => void (await one(id)),
      changeLabels: one,
      createChildren: async ({ parentId }) => [await one(parentId)],
    },
  };
  return { inner, asked };
}

function with_(tasks: readonly Task[], inner: Tracker): Tracker {
  return withTasks(
    inner,
    {
      open: async () => tasks.filter(({ status }) => status === 'waiting'),
      byIds: async (ids) => tasks.filter(({ id }) => ids.includes(id)),
    },
    rules,
  );
}

describe('a tracker with the tasks of Baton', () => {
  it('shows a task as an active issue while it waits, and as a finished one afterwards', async () => {
    const tracker = with_([task('intake:a'), task('intake:b', 'failed')], noting().inner);
    expect((await tracker.fetchByStates(rules.activeStates)).map(({ id }) => id)).toEqual(['intake:a', '1', '2']);
    expect((await tracker.fetchByStates(rules.terminalStates)).map(({ id }) => id)).toEqual(['1', '2']);
    const [two, one] = await tracker.fetchByIds(['intake:b', 'intake:a', '1', 'intake:a']);
    expect([one?.state, two?.state]).toEqual([rules.activeStates[0], rules.terminalStates[0]]);
  });

  it('says that an unknown task does not exist', async () => {
    const tracker = with_([], noting().inner);
    expect(await tracker.fetchByIds(['intake:gone'])).toEqual([]);
    const snapshot = await tracker.fetchSnapshot?.({ states: rules.activeStates, watched: ['intake:gone', '1'] });
    expect([...(snapshot?.watched ?? [])].map(([id, found]) => [id, found?.id ?? null])).toEqual([
      ['1', '1'],
      ['intake:gone', null],
    ]);
  });

  // @conforms 4.57, 4.137
  it('never asks the tracker behind it about a task, whatever it is asked', async () => {
    const id = fc.constantFrom('1', '2', 'intake:a', 'intake:b', 'intake:', 'other:1');
    await fc.assert(
      fc.asyncProperty(fc.array(id), fc.array(id), id, async (ids, welcome, one) => {
        const { inner, asked } = noting();
        const tracker = with_([task('intake:a')], inner);
        await tracker.fetchByIds(ids);
        await tracker.fetchSnapshot?.({ states: rules.activeStates, watched: ids, welcome });
        await tracker.fetchComments?.(one);
        await tracker.fetchChildren?.(ids);
        await tracker.fetchWriters?.(one);
        const author = { kind: 'orchestrator' } as const;
        await Promise.allSettled([
          tracker.changes?.moveIssue(one, 'Done', author),
          tracker.changes?.addComment(one, 'words', author),
          tracker.changes?.changeLabels(one, { add: ['x'] }, author),
          tracker.changes?.createChildren?.(
            { parentId: one, children: [], states: { todo: 'Todo', blocked: 'Blocked' } },
            author,
          ),
        ]);
        expect(asked.filter(isTaskId)).toEqual([]);
      }),
    );
  });

  // @conforms 4.57
  it('refuses an issue of the tracker whose id looks like a task', async () => {
    const tracker = with_([], noting([issue({ id: 'intake:x' })]).inner);
    await expect(tracker.fetchByStates(rules.activeStates)).rejects.toMatchObject({ code: 'tracker_response' });
  });
});
