import { BatonError } from '../../../src/core/baton-error.ts';
import { adapterErrors } from '../../../src/core/error-catalogue.ts';
import { passed } from '../../../src/core/finding.ts';
import { type Issue, normalizeState } from '../../../src/core/issue/issue.ts';
import type { TrackerAdapter } from '../../../src/tracker/adapter.ts';
import type { Tracker } from '../../../src/tracker/tracker.ts';

const errors = adapterErrors({
  missing_notebook_shelf: { retryable: false, nextStep: 'Set `tracker.provider.shelf`.' },
});

/** A tracker that Baton does not have: the issues that a test writes down. */
export function notebookTracker(issues: Issue[]): TrackerAdapter {
  return {
    kind: 'notebook',
    defaultActiveStates: ['open'],
    defaultTerminalStates: ['closed'],
    keys: [
      { name: 'shelf', type: 'string', description: 'Where the notebook is.', takesEffect: 'next tick', guard: 'open' },
    ],
    check: ({ shelf }) => {
      if (typeof shelf === 'string') return [];
      const key = 'tracker.provider.shelf';
      return [{ code: errors.missing_notebook_shelf.code, severity: 'error', key, message: `${key} is missing` }];
    },
    create: () => tracker(issues),
    doctor: async ({ provider }) => [passed('notebook', 'it is there', { shelf: provider.shelf })],
    init: {
      about: 'of a test',
      questions: [{ name: 'shelf_name', value: 'name', help: 'the shelf', question: 'Which shelf?' }],
      settings: ({ shelf_name }) => (shelf_name === undefined ? {} : { provider: { shelf: shelf_name } }),
      isShared: false,
    },
    errors,
    docs: 'docs/trackers/notebook.md',
  };
}

const readOnly = new BatonError('tracker_read_only', 'A notebook has neither labels nor children.');

function tracker(issues: Issue[]): Tracker {
  return {
    kind: 'notebook',
    fetchByStates: async (states) => {
      const wanted = new Set(states.map(normalizeState));
      return issues.filter(({ state }) => wanted.has(normalizeState(state)));
    },
    fetchByIds: async (ids) => ids.flatMap((id) => issues.filter((issue) => issue.id === id)),
    changes: {
      moveIssue: async (id, state) => {
        const at = issues.findIndex((issue) => issue.id === id);
        const found = issues[at];
        if (found === undefined) throw new BatonError('tracker_issue_not_found', `There is no issue ${id}.`);
        const moved = { ...found, state };
        issues[at] = moved;
        return moved;
      },
      addComment: async () => {},
      changeLabels: () => Promise.reject(readOnly),
    },
  };
}
