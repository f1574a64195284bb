import type { VNode } from 'preact';
import { csvOf } from '../../data/costs/csv.ts';
import { saveFile } from '../../data/page/save-file.ts';
import { hint } from '../shared/tooltip.tsx';

interface CsvButtonProps {
  readonly fileName: string;
  /** The content, for screen readers. */
  readonly name: string;
  readonly header: readonly string[];
  readonly rows: () => readonly (readonly (string | number)[])[];
}

/** Offers a table as a file. The page makes it without a request. */
export function CsvButton({ fileName, name, header, rows }: CsvButtonProps): VNode {
  const download = (): void => {
    saveFile(fileName, 'text/csv', csvOf(header, rows()));
  };
  return (
    <button
      type="button"
      class="quiet"
      data-part="csv"
      aria-label={`Download CSV: ${name}`}
      onClick={download}
      {...hint('Save this table for a spreadsheet')}
    >
      Download CSV
    </button>
  );
}
