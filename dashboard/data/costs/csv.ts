type Cell = string | number;

/**
 * A table as a file for a spreadsheet. What must hold: a cell stays one cell whatever is in it, and no text of others is
 * taken for a formula by the program that opens it.
 */
export function csvOf(header: readonly string[], rows: readonly (readonly Cell[])[]): string {
  return [header, ...rows].map((cells) => `${cells.map(cellOf).join(',')}\r\n`).join('');
}

function cellOf(cell: Cell): string {
  if (typeof cell === 'number') return String(cell);
  const text = startsFormula.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/u.test(text) || text !== text.trim() ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Spreadsheets look past blanks and controls at the beginning, and take the wide forms too. */
const startsFormula = /^[\s\p{C}]*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20]/u;
