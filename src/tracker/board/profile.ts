import { boardStatuses } from '../../core/issue/board-status.ts';
import { localAuthor } from '../../core/text/fence.ts';
import type { TrackerProfile } from '../../core/tracker-profile.ts';

/** The `board` kind in a workflow file: Baton's own board, kept in its store. */
export const boardProfile: TrackerProfile = {
  kind: 'board',
  defaultActiveStates: ['todo', 'in_progress'],
  defaultTerminalStates: ['done', 'cancelled'],
  defaultReviewStates: ['review'],
  knownStates: boardStatuses,
  roleStates: { todo: 'todo', inProgress: 'in_progress', review: 'review', blocked: 'blocked', done: 'done' },
  hasBacklog: true,
  makesChildren: true,
  startState: 'in_progress',
  trustedAuthors: [localAuthor],
  keys: [
    {
      name: 'prefix',
      type: 'string',
      description:
        'The prefix of the identifiers of new issues: `BAT` gives BAT-1, BAT-2, … One to ten capital letters and digits, a letter first.',
      takesEffect: 'next tick',
      guard: 'open',
      default: 'BAT',
    },
  ],
  check({ prefix }) {
    // An identifier names a workspace, and people type it.
    if (typeof prefix === 'string' && /^[A-Z][A-Z0-9]{0,9}$/.test(prefix)) return [];
    const key = 'tracker.provider.prefix';
    const message = `${key} must be one to ten capital letters and digits, a letter first`;
    return [{ code: 'invalid_tracker_config', severity: 'error', key, message }];
  },
};
