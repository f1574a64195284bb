import { later } from './clock.ts';

/** After this time the browser has surely read the file. */
const takenMs = 60_000;

/** Offers a text as a file. The page makes it without a request. */
export function saveFile(name: string, type: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  later(takenMs, () => URL.revokeObjectURL(address));
}
