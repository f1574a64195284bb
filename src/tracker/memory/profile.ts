import { localAuthor } from '../../core/text/fence.ts';
import type { TrackerProfile } from '../../core/tracker-profile.ts';

/** The `memory` kind in a workflow file: issues in the daemon's memory, for trying things out and for tests. */
export const memoryProfile: TrackerProfile = {
  kind: 'memory',
  defaultActiveStates: ['Todo', 'In Progress'],
  defaultTerminalStates: ['Closed', 'Cancelled', 'Canceled', 'Duplicate', 'Done'],
  trustedAuthors: [localAuthor],
  makesChildren: true,
  keys: [
    {
      name: 'issues_file',
      type: 'path',
      description: 'JSON or YAML file with the issues to start with.',
      takesEffect: 'next tick',
      guard: 'guarded',
    },
  ],
  check: () => [],
};
