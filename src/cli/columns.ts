import { displayWidth, padTo } from './board/text-width.ts';

/** Lines of cells, each column as wide as its widest cell. The title of a column of numbers ends with `>`. */
export function columns(titles: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const isNumber = titles.map((title) => title.endsWith('>'));
  const cells = [titles.map((title) => title.replace(/>$/, '')), ...rows];
  const widths = titles.map((_, column) => Math.max(...cells.map((row) => displayWidth(row[column] ?? ''))));
  return cells.map((row) =>
    row
      .map((cell, column) => {
        const width = widths[column] ?? 0;
        return isNumber[column] ? ' '.repeat(width - displayWidth(cell)) + cell : padTo(cell, width);
      })
      .join('  ')
      .trimEnd(),
  );
}
