/** How many times faster than its script a stand-in waits; in haste it listens to nobody. For tests, and `baton demo --once`. */
export const rehearsalHaste = 'BATON_REHEARSAL_HASTE';

/** What is no number of at least one is no haste. */
export function hasteIn(value: string | undefined): number {
  const haste = Number(value);
  return Number.isFinite(haste) && haste > 1 ? haste : 1;
}
