import type { Author } from '../core/issue/author.ts';

/** JSON is kept as text on both engines. Null stays null, and what JSON does not have (undefined) becomes it. */
export function toJsonText(value: unknown): string | null {
  return value === null || value === undefined ? null : JSON.stringify(value);
}

export function fromJsonText(text: string | null): unknown {
  return text === null ? null : JSON.parse(text);
}

/** Written by `toJsonText` from an Author, and by nobody else. */
export function authorFrom(text: string): Author {
  return JSON.parse(text) as Author;
}
