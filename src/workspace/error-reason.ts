import { harmlessLine } from '../core/text/harmless-line.ts';

/** Whether the operating system said this. */
export function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

/** What was thrown, as one line for people: a name in it may come from an agent. */
export function reasonOf(thrown: unknown): string {
  return harmlessLine(thrown instanceof Error ? thrown.message : String(thrown));
}
