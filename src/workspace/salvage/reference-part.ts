/** A part of a reference's name. A dot may stand only where git takes it. */
export function referencePart(text: string): string {
  const safe = text.replaceAll(/[^A-Za-z0-9._-]/gu, (character) => `%${Buffer.from(character).toString('hex')}`);
  const isBad = safe === '' || /^[.-]|\.\.|\.$|\.lock$/.test(safe);
  return isBad ? `%${safe.replaceAll('.', '%2e')}` : safe;
}
