import { readFileSync } from 'node:fs';
import { BatonError } from '../../core/baton-error.ts';
import type { TrackerAdapter } from '../adapter.ts';
import { parseIssuesFile } from './issues-file.ts';
import { MemoryTracker } from './memory-tracker.ts';
import { memoryProfile } from './profile.ts';

/** A tracker whose issues are in the daemon's memory. */
export const memoryAdapter: TrackerAdapter = {
  ...memoryProfile,
  create: ({ provider, activeStates, reviewStates, terminalStates }, { clock }) => {
    const file = provider.issues_file;
    const issues = typeof file === 'string' ? parseIssuesFile(readIssues(file), file) : [];
    const states = [...activeStates, ...reviewStates, ...terminalStates, ...issues.map(({ state }) => state)];
    return new MemoryTracker({ issues, states: [...new Set(states)], clock });
  },
  init: { about: null, questions: [], settings: () => ({}), isShared: false },
  docs: 'docs/configuration.md#kind-memory',
};

function readIssues(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new BatonError('invalid_tracker_config', `The issues file ${file} cannot be read.`, {
      cause,
      details: { key: 'tracker.provider.issues_file' },
    });
  }
}
