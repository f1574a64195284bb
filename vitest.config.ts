import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/longest-first.ts';
import { temporaryFolder } from './test/temporary-folder.ts';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Tests start real processes; on two busy cores those need patience, and no test measures absolute time.
    testTimeout: 30_000,
    hookTimeout: 30_000,
    env: { TMPDIR: temporaryFolder() },
    pool: 'forks',
    // Most of the time a test waits for a process or a disk; one worker a core leaves the machine idle.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    // A file shares nothing with another but the process, and a fresh process a file costs more than most files.
    isolate: false,
    // A promise that rejects without an owner fails the run (law 10).
    dangerouslyIgnoreUnhandledErrors: false,
  },
});
