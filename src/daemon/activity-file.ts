import { statSync } from 'node:fs';
import path from 'node:path';

/**
 * When somebody last touched `.baton/last-activity` beside the workflow file: the way for a script, an editor or a git
 * hook to say that people are at work, so that an adaptive Baton polls at its fast pace. Null where there is none.
 */
export function lastTouch(workflowPath: string): () => number | null {
  const file = path.join(path.dirname(workflowPath), '.baton', 'last-activity');
  return () => {
    try {
      return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? null;
    } catch {
      // A folder that cannot be read tells nothing.
      return null;
    }
  };
}
