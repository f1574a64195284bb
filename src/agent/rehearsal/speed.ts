/**
 * The variable that says how many times faster than its script the scripted agent waits. Above 1 it does not listen to
 * people. For tests, and for `baton demo --once`.
 */
export const rehearsalSpeed = 'BATON_REHEARSAL_SPEED';

/** 1 for a value that is not a number above one. */
export function speedIn(value: string | undefined): number {
  const speed = Number(value);
  return Number.isFinite(speed) && speed > 1 ? speed : 1;
}
