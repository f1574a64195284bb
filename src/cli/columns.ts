import { padded, widthOf } from './cell-text.ts';

/** Lines of cells, each column as wide as its widest cell. The title of a column of numbers ends with `>`. */
export function columns(titles: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const cells = [titles.map((title) => title.replace(/>$/, '')), ...rows];
  const widths = titles.map((_, column) => Math.max(...cells.map((row) => widthOf(row[column] ?? ''))));
  return cells.map((row) =>
    row
      .map((cell, column) => padded(cell, widths[column] ?? 0, titles[column]?.endsWith('>') ? 'right' : 'left'))
      .join('  ')
      .trimEnd(),
  );
}
