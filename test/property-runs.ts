import fc from 'fast-check';

/** How much of its full count a property is drawn in a quick run; CI and `npm run test:all` draw all of it. */
const quickShare = 0.2;
const fewestRuns = 5;
const isFull = process.env.BATON_TEST_TIER !== 'quick' || process.env.CI === 'true';

/** The count of a property that is drawn `full` times in a full run. The only place that decides on counts. */
export function runs(full: number): number {
  return isFull ? full : Math.min(full, Math.max(fewestRuns, Math.ceil(full * quickShare)));
}

/** For properties that name no count of their own. */
fc.configureGlobal({ ...fc.readConfigureGlobal(), numRuns: runs(100) });
