import type { Slot } from '../../src/core/dispatch/slots.ts';

/** Slots that workers take in these states. */
export function workersIn(...states: readonly string[]): Slot[] {
  return states.map((state) => ({ state, role: 'worker' }));
}
