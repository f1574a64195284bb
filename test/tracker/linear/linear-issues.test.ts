import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readRecord } from '../../../src/tracker/linear/read/linear-record.ts';
import { toIssue } from '../../../src/tracker/linear/read/to-issue.ts';

const node = {
  id: 'issue-1',
  identifier: 'MT-1',
  title: 'First',
  description: 'What to do',
  priority: 2,
  state: { name: 'Todo' },
  branchName: 'someone/mt-1-first',
  url: 'https://linear.app/acme/issue/MT-1',
  parent: { id: 'issue-9', identifier: 'MT-9' },
  assignee: { id: 'user-1' },
  labels: { nodes: [{ name: 'Backend' }, { name: ' backend ' }, { name: ' ' }] },
  inverseRelations: {
    nodes: [
      { type: 'blocks', issue: { id: 'issue-2', identifier: 'MT-2', state: { name: 'In Progress' } } },
      { type: 'relatesTo', issue: { id: 'issue-3', identifier: 'MT-3', state: { name: 'Done' } } },
    ],
  },
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-02T00:00:00.000Z',
  archivedAt: null,
  trashed: null,
};

const rules = { terminalStates: new Set(['done', 'canceled']), assigneeId: null };

function issueOf(changes: Record<string, unknown>, judge: Parameters<typeof toIssue>[1] = rules) {
  const reading = readRecord({ ...node, ...changes });
  if (!('record' in reading)) throw new Error('malformed');
  return toIssue(reading.record, judge);
}

const blockedBy = (...states: (string | null)[]) => ({
  inverseRelations: {
    nodes: states.map((state, index) => ({
      type: index % 2 === 0 ? 'blocks' : ' BLOCKS ',
      issue: { id: `b${index}`, identifier: `B-${index}`, state: state === null ? null : { name: state } },
    })),
  },
});

describe('an issue of Linear', () => {
  // @conforms L1
  it('is normalised with its blockers and each label once, and is not dispatchable while one blocks it', () => {
    expect(issueOf({}, { ...rules, assigneeId: 'user-1' })).toEqual({
      id: 'issue-1',
      identifier: 'MT-1',
      title: 'First',
      description: 'What to do',
      priority: 2,
      state: 'Todo',
      branchName: 'someone/mt-1-first',
      url: 'https://linear.app/acme/issue/MT-1',
      assigneeId: 'user-1',
      labels: ['backend'],
      blockedBy: [{ id: 'issue-2', identifier: 'MT-2', state: 'In Progress' }],
      parent: { id: 'issue-9', identifier: 'MT-9' },
      dispatchable: false,
      nativeRef: null,
      createdAt: Date.UTC(2026, 0, 1),
      updatedAt: Date.UTC(2026, 0, 2),
    });
  });

  it.each([
    ['nothing blocks it', blockedBy(), true],
    ['everything that blocked it is over', blockedBy('Done', ' CANCELED '), true],
    ['one blocker is open', blockedBy('Done', 'Backlog'), false],
    ['the state of a blocker is unknown', blockedBy(null), false],
    ['the key may not see its blocker', { inverseRelations: { nodes: [{ type: 'blocks', issue: null }] } }, false],
    ['it has begun, blocked or not', { ...blockedBy('Backlog'), state: { name: 'In Progress' } }, true],
    ['it waits in a state that is spelled otherwise', { ...blockedBy('Backlog'), state: { name: ' TODO ' } }, false],
  ])('is dispatchable or not when %s', (_when, changes, dispatchable) => {
    expect(issueOf(changes).dispatchable).toBe(dispatchable);
  });

  it('of another user or without an assignee exists but is not dispatchable', () => {
    const mine = { ...rules, assigneeId: 'user-2' };
    expect(issueOf(blockedBy(), mine)).toMatchObject({ assigneeId: 'user-1', dispatchable: false });
    expect(issueOf({ ...blockedBy(), assignee: null }, mine)).toMatchObject({ assigneeId: null, dispatchable: false });
    expect(issueOf({ ...blockedBy(), assignee: { id: 'user-2' } }, mine).dispatchable).toBe(true);
  });

  it('has null for missing values and values of another type, and an integer priority or none', () => {
    const odd = { description: 7, branchName: null, url: {}, assignee: 'x', createdAt: 'yesterday', updatedAt: 12 };
    expect(issueOf({ ...odd, priority: 2.5 })).toMatchObject({
      description: null,
      branchName: null,
      url: null,
      assigneeId: null,
      createdAt: null,
      updatedAt: null,
      priority: null,
    });
    expect(issueOf({ priority: 0 }).priority).toBe(0);
  });

  it.each([
    // @conforms L2
    ['a blank title', { title: ' ' }],
    ['no title', { title: null }],
    ['no id', { id: null }],
    ['a blank identifier', { identifier: '' }],
    ['no state', { state: null }],
    ['a state without a name', { state: {} }],
    ['no labels', { labels: null }],
    ['a label without a name', { labels: { nodes: [{}] } }],
    ['no relations', { inverseRelations: undefined }],
    ['a relation that is none', { inverseRelations: { nodes: [null] } }],
  ])('with %s is malformed', (_what, changes) => {
    expect(readRecord({ ...node, ...changes })).toEqual({
      malformed: 'id' in changes ? null : 'issue-1',
      identifier: 'identifier' in changes ? null : 'MT-1',
    });
  });

  it.each([
    ['archived', { archivedAt: '2026-01-01T00:00:00.000Z' }],
    ['trashed', { trashed: true }],
  ])('that is %s counts as archived or deleted', (_what, changes) => {
    expect(readRecord({ ...node, ...changes })).toMatchObject({ record: { isArchivedOrDeleted: true } });
  });

  it('names its author by id and e-mail, and not by a name that anyone may choose', () => {
    const creator = { id: 'user-9', email: ' some@example.com', displayName: 'some', name: 'Some One' };
    expect(issueOf({ creator, botActor: null }).authorNames).toEqual(['user-9', 'some@example.com']);
    expect(issueOf({ creator: { ...creator, email: null } }).authorNames).toEqual(['user-9']);
  });

  it.each([
    ['no one filed', { creator: null }],
    ['Linear tells no author of', {}],
    ['a user without an id filed', { creator: { id: ' ', email: 'some@example.com' } }],
    ['something odd filed', { creator: 'user-9' }],
    ['a bot filed', { creator: null, botActor: { type: 'slack' } }],
    ['a bot filed for a person', { creator: { id: 'user-9', email: 'a@example.com' }, botActor: { type: 'slack' } }],
    ['a bot filed that says nothing of itself', { creator: { id: 'user-9' }, botActor: {} }],
  ])('that %s has no author', (_what, changes) => {
    expect(issueOf(changes)).not.toHaveProperty('authorNames');
  });

  it('can be read without a throw from any input', () => {
    const anything = fc.anything({ withNullPrototype: true, withBigInt: true, maxDepth: 4 });
    const almost = fc.record(Object.fromEntries(Object.keys(node).map((key) => [key, anything])), { requiredKeys: [] });
    fc.assert(
      fc.property(
        fc.oneof(
          anything,
          almost,
          almost.map((each) => ({ ...node, ...each })),
        ),
        (each) => {
          const reading = readRecord(each);
          if ('record' in reading) expect(toIssue(reading.record, rules).title.trim()).not.toBe('');
          else expect([null, 'string']).toContain(reading.malformed === null ? null : typeof reading.malformed);
        },
      ),
    );
  });
});
