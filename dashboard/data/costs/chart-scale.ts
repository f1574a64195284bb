/** The end of an axis: the next of 1, 2 or 5 times a power of ten, so that half of it is a readable number too. */
export function axisEnd(largest: number): number {
  if (!Number.isFinite(largest) || largest <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(largest));
  return ([1, 2, 5, 10].find((times) => times * power >= largest) ?? 10) * power;
}
