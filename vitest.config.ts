import { globSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
import { ByDuration } from './test/by-duration.ts';
import { smallWorkers } from './test/small-workers.ts';
import { temporaryFolder } from './test/temporary-folder.ts';
import { isInTier, tags, tierOf } from './test/tiers.ts';

const tier = tierOf(process.env.BATON_TEST_TIER);
const allTests = 'test/**/*.test.ts';

export default defineConfig({
  test: {
    include: [allTests],
    exclude: globSync(allTests, { cwd: import.meta.dirname }).filter((file) => !isInTier(file, tier)),
    tags,
    // Tests start real processes; on two busy cores those need patience, and no test measures absolute time.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 50_000 } },
    env: { TMPDIR: temporaryFolder() },
    setupFiles: ['test/property-runs.ts'],
    pool: smallWorkers,
    // A young generation that grows to 100 MB makes every start of a program slower and hardly any test faster.
    execArgv: ['--max-semi-space-size=4'],
    // Most of the time a test waits for a process or a disk; one worker a core leaves the machine idle.
    maxWorkers: 3,
    sequence: { sequencer: ByDuration },
    // A file shares nothing with another but the process, and a fresh process a file costs more than most files.
    isolate: false,
    // A promise that rejects without an owner fails the run.
    dangerouslyIgnoreUnhandledErrors: false,
  },
});
