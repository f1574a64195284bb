import { performance } from 'node:perf_hooks';

/** These tests start a hundred daemons and agents on a busy machine; none of them measures time. */
const patienceMs = 150_000;
/** A check may open a store or read the whole process table, so checks are rare enough not to dominate the tests. */
const lookEveryMs = 120;

/** For every test of the suite: longer than its longest wait. */
export const faultTest = { timeout: 400_000 };

/** Tries until it does not throw; at the end it throws the last error. */
export async function patiently(check: () => void | Promise<void>): Promise<void> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
    }
  }
}
