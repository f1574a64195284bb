const units = ['bytes', 'kB', 'MB', 'GB', 'TB'] as const;

/** `512 bytes`, `1.5 MB`; `unknown` for what could not be seen completely. */
export function sizeText(bytes: number | null): string {
  if (bytes === null) return 'unknown';
  let [amount, unit] = [bytes, 0];
  while (amount >= 999.95 && unit < units.length - 1) [amount, unit] = [amount / 1_000, unit + 1];
  return `${unit === 0 ? amount : amount.toFixed(1)} ${units[unit]}`;
}

/** `3 workspaces, 4.5 MB`; a size that is not known makes the sum one of at least so much. */
export function sumText(sizes: readonly (number | null)[]): string {
  const count = sizes.length === 1 ? '1 workspace' : `${sizes.length} workspaces`;
  const known = sizes.filter((bytes) => bytes !== null);
  const sum = sizeText(known.reduce((total, bytes) => total + bytes, 0));
  return `${count}, ${known.length === sizes.length ? '' : 'at least '}${sum}`;
}
