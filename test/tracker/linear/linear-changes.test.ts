import { describe, expect, it } from 'vitest';
import type { Author } from '../../../src/core/issue/author.ts';
import type { ChildrenPlan, TrackerChanges } from '../../../src/tracker/tracker.ts';
import { type LinearScene, linearScene } from './linear-scene.ts';

const author: Author = { kind: 'run', runId: 'run-1' };
const nobody = '00000000-0000-4000-8000-0000000fffff';

function changesOf({ tracker }: LinearScene): TrackerChanges {
  if (tracker.changes === null) throw new Error('read-only');
  return tracker.changes;
}

/** The ids that a plan has drawn. */
const idOf = (number: number): string => `00000000-0000-4000-8000-00000000000${number}`;
const splitOf = (parentId: string, labels: readonly string[] = []): ChildrenPlan => ({
  parentId,
  states: { todo: 'Todo', blocked: 'Backlog' },
  children: ['a', 'b', 'c'].map((title, index) => ({
    id: idOf(index + 1),
    title,
    description: `do ${title}`,
    priority: 2,
    labels,
    blockedBy: index === 0 ? [] : [idOf(1)],
  })),
});

describe('a move', () => {
  it("takes one read and one write, by the states of the issue's team", async () => {
    const scene = linearScene();
    const { linear, operationsOf } = scene;
    linear.addTeam({
      key: 'OPS',
      states: [
        { name: 'Todo', type: 'unstarted' },
        { name: 'Shipped', type: 'completed' },
      ],
    });
    const mine = linear.addIssue();
    const theirs = linear.addIssue({ team: 'OPS' });
    const changes = changesOf(scene);
    expect(await operationsOf(() => changes.moveIssue(theirs.id, ' SHIPPED ', author))).toEqual([
      'BatonTeamStates',
      'BatonMoveIssue',
    ]);
    expect(linear.stateOf(theirs.id)).toBe('Shipped');
    await expect(changes.moveIssue(mine.id, 'Shipped', author)).rejects.toMatchObject({
      code: 'tracker_state_unknown',
      details: {
        state: 'Shipped',
        allowed: ['Backlog', 'Todo', 'In Progress', 'In Review', 'Done', 'Canceled', 'Duplicate'],
      },
    });
    await expect(changes.moveIssue(theirs.id, 'In Review', author)).rejects.toMatchObject({
      details: { state: 'In Review', allowed: ['Todo', 'Shipped'] },
    });
    expect(linear.stateOf(mine.id)).toBe('Todo');
  });

  it('returns the whole issue after the move', async () => {
    const scene = linearScene();
    const { linear, tracker } = scene;
    const { id } = linear.addIssue({ labels: Array.from({ length: 70 }, (_, index) => `l${index}`) });
    const moved = await changesOf(scene).moveIssue(id, 'in progress', author);
    expect(moved).toEqual((await tracker.fetchByIds([id]))[0]);
    expect(moved).toMatchObject({ state: 'In Progress' });
    expect(moved.labels).toHaveLength(70);
  });

  it('to a state that was just added works', async () => {
    const scene = linearScene();
    const { linear } = scene;
    const { id, teamId } = linear.addIssue();
    const changes = changesOf(scene);
    await expect(changes.moveIssue(id, 'Parked', author)).rejects.toMatchObject({ code: 'tracker_state_unknown' });
    const [some] = [...linear.records.states.values()].filter((state) => state.teamId === teamId);
    if (some !== undefined) linear.records.states.set('parked', { ...some, id: 'parked', name: 'Parked' });
    expect((await changes.moveIssue(id, 'parked', author)).state).toBe('Parked');
  });

  it('of an issue outside the project is refused without a write', async () => {
    const scene = linearScene();
    const { linear } = scene;
    linear.addProject({ slugId: 'other' });
    const other = linear.addIssue({ project: 'other' });
    const archived = linear.addIssue();
    linear.archive(archived.id);
    for (const id of [other.id, archived.id, nobody, 'BAT-1', '']) {
      await expect(changesOf(scene).moveIssue(id, 'Done', author)).rejects.toMatchObject({
        code: 'tracker_issue_not_found',
      });
    }
    expect(linear.counts()).toEqual({ BatonTeamStates: 3 });
  });

  it('of an issue that disappears meanwhile is refused with the same code', async () => {
    const scene = linearScene();
    const { linear } = scene;
    const { id } = linear.addIssue();
    linear.faults.next.push({
      kind: 'graphql_errors',
      data: 'null',
      operation: 'BatonMoveIssue',
      message: 'Entity not found: Issue',
      code: 'INPUT_ERROR',
    });
    await expect(changesOf(scene).moveIssue(id, 'Done', author)).rejects.toMatchObject({
      code: 'tracker_issue_not_found',
    });
  });
});

describe('a comment', () => {
  it('is written unchanged with one request', async () => {
    const scene = linearScene();
    const { linear, operationsOf } = scene;
    const { id } = linear.addIssue();
    const body = 'Tests pass.\n\n"quoted" \\ $slug {{ x }} 🚀';
    expect(await operationsOf(() => changesOf(scene).addComment(id, body, author))).toEqual(['BatonComment']);
    expect(linear.commentsOf(id)).toMatchObject([{ body }]);
  });

  it('on an unknown issue is refused', async () => {
    const scene = linearScene();
    for (const id of [nobody, 'BAT-1']) {
      await expect(changesOf(scene).addComment(id, 'x', author)).rejects.toMatchObject({
        code: 'tracker_issue_not_found',
      });
    }
  });
});

describe('a change of labels', () => {
  it("uses the label of the issue's team before that of the workspace, and none of another team", async () => {
    const scene = linearScene();
    const { linear, operationsOf } = scene;
    linear.addTeam({ key: 'OPS' });
    const own = linear.addTeamLabel('BAT', 'Bug');
    linear.addTeamLabel('OPS', 'Release');
    const { id } = linear.addIssue();
    const changes = changesOf(scene);
    expect(await operationsOf(() => changes.changeLabels(id, { add: ['bug'] }, author))).toEqual([
      'BatonLabels',
      'BatonChangeLabels',
    ]);
    expect(linear.issue(id).labelIds).toEqual([own]);
    await expect(changes.changeLabels(id, { add: ['release', 'bug', 'gone'] }, author)).rejects.toMatchObject({
      code: 'tracker_label_unknown',
      details: { labels: ['release', 'gone'] },
    });
    expect(linear.issue(id).labelIds).toEqual([own]);
    expect(linear.complaints).toEqual([]);
  });
});

describe('a part of an issue', () => {
  it('is recorded as written by the run before it is sent, and stays in team, project and with its assignee', async () => {
    const scene = linearScene();
    const { linear } = scene;
    linear.addTeam({ key: 'OPS' });
    linear.addUser({ name: 'ada' });
    const parent = linear.addIssue({ team: 'OPS', labels: ['backend'], assignee: 'ada' });
    const texts: unknown[] = [];
    const onWrite = async (text: unknown): Promise<void> => void texts.push([text, linear.counts().BatonCreateChild]);
    const ask = { run: { issueId: parent.id, onWrite } };
    await changesOf(scene).createChildren?.(splitOf(parent.id, ['backend', 'unknown']), author, ask);
    expect(texts).toEqual([
      [{ kind: 'issue', id: idOf(1) }, undefined],
      [{ kind: 'issue', id: idOf(2) }, 1],
      [{ kind: 'issue', id: idOf(3) }, 2],
    ]);
    for (const number of [1, 2, 3]) {
      const { teamId, projectId, assigneeId } = parent;
      expect(linear.issue(idOf(number))).toMatchObject({
        teamId,
        projectId,
        assigneeId,
        parentId: parent.id,
        priority: 2,
      });
      expect(linear.labelsOf(idOf(number))).toEqual(['backend']);
    }
    expect(linear.stateOf(parent.id)).toBe('Backlog');
  });

  // @conforms planner.3
  it('is made once, whichever request fails, before it arrives or after', async () => {
    const whole = linearScene();
    const parent = whole.linear.addIssue({ state: 'In Progress' });
    await changesOf(whole).createChildren?.(splitOf(parent.id), author);
    const writes = Object.entries(whole.linear.counts()).filter(([name]) => name.startsWith('Baton'));
    expect(Object.fromEntries(writes)).toMatchObject({
      BatonCreateChild: 3,
      BatonCreateRelation: 5,
      BatonMoveIssue: 1,
    });
    for (const [operation, times] of writes)
      for (let before = 0; before < times; before += 1)
        for (const where of ['before', 'in_body'] as const) {
          const scene = linearScene();
          const { linear, tracker } = scene;
          const { id } = linear.addIssue({ state: 'In Progress' });
          const fault =
            where === 'before' ? ({ kind: 'status', status: 502 } as const) : ({ kind: 'cut', where } as const);
          linear.faults.next.push({ ...fault, operation, skip: before });
          const plan = splitOf(id);
          await changesOf(scene)
            .createChildren?.(plan, author)
            .catch(() => {});
          const made = await changesOf(scene).createChildren?.(plan, author);
          expect(made?.map(({ title }) => title)).toEqual(['a', 'b', 'c']);
          expect((await tracker.fetchChildren?.([id]))?.get(id)).toHaveLength(3);
          const [now] = await tracker.fetchByIds([id]);
          expect([now?.state, now?.blockedBy.map((each) => each.id).toSorted()]).toEqual([
            'Backlog',
            [1, 2, 3].map(idOf),
          ]);
          expect(made?.map(({ blockedBy }) => blockedBy.map((each) => each.id))).toEqual([[], [idOf(1)], [idOf(1)]]);
        }
  });

  it('counts as open when there are more than a page of them', async () => {
    const scene = linearScene();
    const { linear, tracker } = scene;
    const parent = linear.addIssue();
    for (let made = 0; made < 251; made += 1) linear.addIssue({ parent: parent.id, state: 'Done' });
    const children = (await tracker.fetchChildren?.([parent.id]))?.get(parent.id) ?? [];
    expect(children).toHaveLength(251);
    expect(children.at(-1)).toEqual({ id: null, identifier: null, state: null });
  });
});

describe('an issue of its own', () => {
  const wanted = { title: 'Say hello', description: 'To all.', priority: 2, labels: ['bug', 'unknown'] };

  it('is created in the project, once for a key, also when the answer was lost', async () => {
    const scene = linearScene();
    const { linear, operationsOf } = scene;
    const before = linear.addIssue({ labels: ['bug'] });
    const create = changesOf(scene).createIssue;
    const made = await create?.({ ...wanted, key: 'intake:1#1' }, author);
    expect(made).toMatchObject({ title: 'Say hello', description: 'To all.', priority: 2, labels: ['bug'] });
    expect(linear.issue(made?.id ?? '')).toMatchObject({ projectId: before.projectId, teamId: before.teamId });
    const again = await operationsOf(() => create?.({ ...wanted, key: 'intake:1#1' }, author) ?? Promise.resolve());
    expect(again).not.toContain('BatonCreateChild');
    const other = await create?.({ ...wanted, key: 'intake:1#2', state: 'Backlog' }, author);
    expect([other?.state, other?.id === made?.id]).toEqual(['Backlog', false]);
  });

  it('is refused for a state that the team does not have', async () => {
    const scene = linearScene();
    scene.linear.addIssue();
    const create = changesOf(scene).createIssue?.({ ...wanted, key: 'k', state: 'Nowhere' }, author);
    await expect(create).rejects.toMatchObject({ code: 'tracker_state_unknown' });
  });
});

describe('every write', () => {
  // @conforms linear.14
  it.each([
    ['a status', { kind: 'status', status: 502 }, 'tracker_status'],
    ['a cut after it arrived', { kind: 'cut', where: 'in_body' }, 'tracker_request'],
    ['garbage', { kind: 'garbage' }, 'tracker_response'],
    ['a key that may not write', { kind: 'graphql_errors', data: 'null', code: 'FORBIDDEN' }, 'tracker_auth'],
  ] as const)('is sent once, even after %s', async (_what, fault, code) => {
    const scene = linearScene();
    const { linear } = scene;
    const { id } = linear.addIssue();
    linear.faults.next.push({ ...fault, operation: 'BatonComment' }, { ...fault, operation: 'BatonMoveIssue' });
    await expect(changesOf(scene).addComment(id, 'x', author)).rejects.toMatchObject({ code });
    await expect(changesOf(scene).moveIssue(id, 'Done', author)).rejects.toMatchObject({ code });
    expect(linear.counts()).toEqual({ BatonComment: 1, BatonTeamStates: 1, BatonMoveIssue: 1 });
  });

  it('counts as a request of an agent unless another caller is named', async () => {
    const scene = linearScene();
    const { id } = scene.linear.addIssue();
    await changesOf(scene).addComment(id, 'x', author);
    await changesOf(scene).moveIssue(id, 'Done', author, { caller: { job: 'command', cause: 'person' } });
    expect(scene.sent.map(({ job, cause }) => `${job} ${cause}`)).toEqual([
      'agent_tools agent',
      'command person',
      'command person',
    ]);
  });

  it('is not sent when it was cancelled before', async () => {
    const scene = linearScene();
    const { id } = scene.linear.addIssue();
    const signal = AbortSignal.abort(new Error('enough'));
    await expect(changesOf(scene).addComment(id, 'x', author, { signal })).rejects.toThrow('enough');
    await expect(changesOf(scene).moveIssue(id, 'Done', author, { signal })).rejects.toThrow('enough');
    expect(scene.linear.requests).toEqual([]);
  });
});
