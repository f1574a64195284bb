import { globSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
import { ByDuration } from './test/by-duration.ts';
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
    testTimeout: 30_000,
    hookTimeout: 30_000,
    env: { TMPDIR: temporaryFolder() },
    setupFiles: ['test/property-runs.ts'],
    pool: 'forks',
    // Most of the time a test waits for a process or a disk; one worker a core leaves the machine idle.
    maxWorkers: 3,
    sequence: { sequencer: ByDuration },
    // A file shares nothing with another but the process, and a fresh process a file costs more than most files.
    isolate: false,
    // A promise that rejects without an owner fails the run.
    dangerouslyIgnoreUnhandledErrors: false,
  },
});
