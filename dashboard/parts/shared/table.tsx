import type { ComponentChildren, VNode } from 'preact';
import type { Tone } from './status.tsx';

export interface Column<R> {
  readonly label: string;
  readonly cell: (row: R) => ComponentChildren;
  /** Numbers are aligned at the right. */
  readonly isNumber?: boolean;
  /** Takes the remaining width. */
  readonly isWide?: boolean;
}

interface TableProps<R> {
  /** The name of the table for screen readers. */
  readonly caption: string;
  readonly columns: readonly Column<R>[];
  readonly rows: readonly R[];
  readonly keyOf: (row: R) => string;
  readonly toneOf?: (row: R) => Tone | null;
}

/** A table as in a timetable. On a phone each row becomes a block, with the labels next to the values. */
export function Table<R>({ caption, columns, rows, keyOf, toneOf = () => null }: TableProps<R>): VNode {
  return (
    <table class="table">
      <caption class="unseen">{caption}</caption>
      <thead>
        <tr>
          {columns.map((column) => (
            <th key={column.label} scope="col" class={classOf(column)}>
              {column.label}
            </th>
          ))}
        </tr>
      </thead>
      <tbody data-rows>
        {rows.map((row) => (
          <tr key={keyOf(row)} class={`tone ${toneOf(row) ?? ''}`} data-row-of>
            {columns.map((column) => (
              <td key={column.label} class={classOf(column)} data-label={column.label}>
                {column.cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function classOf({ isNumber, isWide }: Pick<Column<never>, 'isNumber' | 'isWide'>): string {
  return [isNumber === true ? 'number' : '', isWide === true ? 'wide' : ''].join(' ').trim();
}
