import { InvalidArgumentError, Option } from 'commander';

/** `--json`, which every command takes. */
export function jsonOption(): Option {
  return new Option('--json', 'print JSON, for programs');
}

export function port(text: string): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value <= 65_535) return value;
  throw new InvalidArgumentError('It must be a whole number from 0 to 65535.');
}

export function folder(text: string): string {
  if (text.trim() === '') throw new InvalidArgumentError('It must not be blank.');
  return text;
}

export function count(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number above 0.');
}

/** Several values, separated by commas or by repeating the option. */
export function names(text: string, before: readonly string[] | undefined): readonly string[] {
  const found = text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  if (found.length === 0) throw new InvalidArgumentError('It must not be blank.');
  return [...(before ?? []), ...found];
}
