const units = ['bytes', 'kB', 'MB', 'GB', 'TB'] as const;

/** `512 bytes`, `1.5 MB`; `unknown` for a size that could not be measured completely. */
export function sizeText(bytes: number | null): string {
  if (bytes === null) return 'unknown';
  let [amount, unit] = [bytes, 0];
  while (amount >= 999.95 && unit < units.length - 1) [amount, unit] = [amount / 1_000, unit + 1];
  return `${unit === 0 ? amount : amount.toFixed(1)} ${units[unit]}`;
}

/** `3 workspaces, 4.5 MB`; with an unknown size, the sum is a lower bound. */
export function sumText(sizes: readonly (number | null)[]): string {
  const count = sizes.length === 1 ? '1 workspace' : `${sizes.length} workspaces`;
  const known = sizes.filter((bytes) => bytes !== null);
  const sum = sizeText(known.reduce((total, bytes) => total + bytes, 0));
  return `${count}, ${known.length === sizes.length ? '' : 'at least '}${sum}`;
}
