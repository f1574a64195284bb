import type { Issue } from '../../src/core/issue/issue.ts';

/** An issue that is ready to start, with the changes of a test. */
export function issue(changes: Partial<Issue> = {}): Issue {
  const id = changes.id ?? 'issue-1';
  return {
    id,
    identifier: `T-${id}`,
    title: `Title of ${id}`,
    description: null,
    priority: null,
    state: 'Todo',
    branchName: null,
    url: null,
    assigneeId: null,
    labels: [],
    blockedBy: [],
    dispatchable: true,
    nativeRef: null,
    createdAt: 0,
    updatedAt: null,
    ...changes,
  };
}
