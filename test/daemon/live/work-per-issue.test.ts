// @module-tag full
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type BuiltBaton, buildBaton } from '../../../bench/built-baton.ts';
import { type CountedMode, countWork, type WorkPerIssue } from '../../../bench/counts.ts';

/**
 * What the daemon may do for one issue. A change that needs more adds it here, with the reason. Each poll of the second that
 * an issue takes also writes and asks, so commits and requests have space for a slow machine.
 */
const most: Readonly<Record<CountedMode, WorkPerIssue>> = {
  continue: { processes: 1, commits: 20, files: 16, procReads: 4, requests: 12, logLines: 5 },
  // The user's git configuration is read every ten seconds.
  namespaces: { processes: 2, commits: 20, files: 20, procReads: 6, requests: 12, logLines: 5 },
  // Git makes the worktree, looks for what changed, checks and publishes the commits.
  review: { processes: 24, commits: 24, files: 100, procReads: 60, requests: 16, logLines: 7 },
};

describe('the work of a daemon for one issue', { timeout: 240_000 }, () => {
  let built: BuiltBaton;
  beforeAll(async () => {
    built = await buildBaton();
  }, 120_000);
  afterAll(() => built[Symbol.dispose]());

  it.each(Object.entries(most))('is bounded with %s', async (mode, limits) => {
    const work = await countWork(built, mode as CountedMode);
    const over = Object.entries(work).filter(([what, count]) => count > limits[what as keyof WorkPerIssue]);
    expect(over).toEqual([]);
    expect(work.processes).toBeGreaterThanOrEqual(1);
  });
});
