import { type RawBuilder, sql } from 'kysely';

/**
 * Whether a column has a text in it, as it stands: `%` and `_` in it are letters like others. Both engines lower ASCII
 * alone, and so does this for what is looked for.
 */
export function hasText(column: string, text: string): RawBuilder<boolean> {
  const lowered = text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());
  const pattern = `%${lowered.replaceAll(/[\\%_]/g, (letter) => `\\${letter}`)}%`;
  return sql<boolean>`lower(${sql.ref(column)}) like ${pattern} escape '\\'`;
}
