import { performance } from 'node:perf_hooks';
import { lookAgain } from '../look-again.ts';

/** These tests start a hundred daemons and agents on a busy machine; none of them measures time. */
const patienceMs = 150_000;

/** For every test of the suite: longer than its longest wait. */
export const faultTest = { timeout: 400_000 };

/** Tries until it does not throw; at the end it throws the last error. */
export async function patiently(check: () => void | Promise<void>): Promise<void> {
  const begin = performance.now();
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (performance.now() > begin + patienceMs) throw error;
      await lookAgain(begin);
    }
  }
}
