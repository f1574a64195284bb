import { performance } from 'node:perf_hooks';

/** These tests start a hundred daemons and agents on a machine that has other work too; nothing here measures time. */
const patienceMs = 80_000;
const lookEveryMs = 30;

/** For every test of the suite: longer than its longest wait. */
export const faultTest = { timeout: 180_000 };

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
