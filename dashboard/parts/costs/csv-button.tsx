import type { VNode } from 'preact';
import { csvOf } from '../../data/costs/csv.ts';
import { later } from '../../data/page/clock.ts';

interface CsvButtonProps {
  readonly fileName: string;
  /** The content, for screen readers. */
  readonly name: string;
  readonly header: readonly string[];
  readonly rows: () => readonly (readonly (string | number)[])[];
}

/** After this time the browser has surely read the file. */
const takenMs = 60_000;

/** Offers a table as a file. The page makes it without a request. */
export function CsvButton({ fileName, name, header, rows }: CsvButtonProps): VNode {
  const download = (): void => {
    const address = URL.createObjectURL(new Blob([csvOf(header, rows())], { type: 'text/csv;charset=utf-8' }));
    const link = document.createElement('a');
    link.href = address;
    link.download = fileName;
    link.click();
    later(takenMs, () => URL.revokeObjectURL(address));
  };
  return (
    <button type="button" class="quiet" data-part="csv" aria-label={`Download CSV: ${name}`} onClick={download}>
      Download CSV
    </button>
  );
}
