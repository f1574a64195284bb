/**
 * How many times faster than its script a stand-in waits. In haste it does not listen to people. For tests, and `baton
 * demo --once`.
 */
export const rehearsalHaste = 'BATON_REHEARSAL_HASTE';

/** A value that is not a number above one means no haste. */
export function hasteIn(value: string | undefined): number {
  const haste = Number(value);
  return Number.isFinite(haste) && haste > 1 ? haste : 1;
}
