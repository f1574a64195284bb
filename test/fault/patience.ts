import { performance } from 'node:perf_hooks';

/** These tests start a hundred daemons and agents on a machine that has other work too; nothing here measures time. */
const patienceMs = 150_000;
/** A look may open a store or read the whole process table: seldom enough that the looks are not what the tests cost. */
const lookEveryMs = 120;

/** For every test of the suite: longer than its longest wait. */
export const faultTest = { timeout: 400_000 };

/** Tries until it does not throw, and throws what it threw last when that never comes. */
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
