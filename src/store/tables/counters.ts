import type { IssueKey } from '../issue-key.ts';

/** Numbers per issue that must survive a restart, such as failures in a row. */
export interface Counters {
  /** The value after adding. */
  add(key: IssueKey, name: string, by: number): Promise<number>;
  set(key: IssueKey, name: string, value: number): Promise<void>;
  /** Forgets these counters of the issue; all of them without `names`. */
  clear(key: IssueKey, names?: readonly string[]): Promise<void>;
  read(key: IssueKey): Promise<Readonly<Record<string, number>>>;
  list(project: string): Promise<readonly (IssueKey & { readonly name: string; readonly value: number })[]>;
}
