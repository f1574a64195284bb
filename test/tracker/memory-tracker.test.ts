import { expect, it } from 'vitest';
import { parseIssuesFile } from '../../src/tracker/memory/issues-file.ts';
import { MemoryTracker } from '../../src/tracker/memory/memory-tracker.ts';
import { trackerConformance } from '../conformance/tracker.ts';
import { SimulatedClock } from '../fake/simulated-clock.ts';

const person = { kind: 'person', name: 'somebody' } as const;

trackerConformance('the memory tracker', async (issues) => {
  const tracker = new MemoryTracker({
    issues,
    states: ['Todo', 'In Progress', 'Done', 'Backlog'],
    clock: new SimulatedClock(),
  });
  return {
    tracker,
    move: async (id, state) => void (await tracker.changes.moveIssue(id, state, person)),
    comment: (id, body) => tracker.changes.addComment(id, body, person),
    remove: async (id) => tracker.remove(id),
    requests: () => null,
    fail: null,
    dispose: async () => {},
  };
});

it('reads issues from YAML or JSON, with blockers by identifier', () => {
  const text = `
- identifier: A-1
  title: First
  priority: 1
  labels: [ Bug, bug, " ui " ]
- { "identifier": "A-2", "title": "Second", "blocked_by": ["A-1"], "created_at": "2026-01-02T00:00:00Z" }
`;
  expect(parseIssuesFile(text, 'issues.yaml')).toMatchObject([
    {
      id: 'A-1',
      identifier: 'A-1',
      state: 'Todo',
      priority: 1,
      labels: ['bug', 'ui'],
      dispatchable: true,
      authorNames: ['local'],
    },
    {
      id: 'A-2',
      blockedBy: [{ id: 'A-1', identifier: 'A-1', state: 'Todo' }],
      createdAt: Date.parse('2026-01-02T00:00:00Z'),
    },
  ]);
});

it.each([
  ['no list', 'identifier: A-1'],
  ['a missing title', '- identifier: A-1'],
  ['an unknown key', '- { identifier: A-1, title: x, prio: 1 }'],
  ['two of one name', '- { identifier: A-1, title: x }\n- { identifier: A-1, title: y }'],
  ['an unknown blocker', '- { identifier: A-1, title: x, blocked_by: [A-9] }'],
  ['broken YAML', '- ['],
  ['keys inside of keys', '? '.repeat(500)],
  ['lists inside of lists', '- '.repeat(5_000)],
])('refuses a file with %s and names the file', (_what, text) => {
  expect(() => parseIssuesFile(text, '/some/issues.yaml')).toThrow(
    expect.objectContaining({ code: 'invalid_tracker_config', message: expect.stringContaining('/some/issues.yaml') }),
  );
});
