/**
 * A unit of work, normalised from the tracker's own format (seed 5, Linear Adapter; specification 4.1.1).
 *
 * Adapters make it, everyone else only reads it. Labels are trimmed, lower-case and without repeats; times are UTC
 * milliseconds; a value that the tracker does not have is `null`, never an empty string.
 */
export interface Issue {
  /** The tracker's own, immutable id. */
  readonly id: string;
  /** The name that people use, such as `ABC-123`. */
  readonly identifier: string;
  readonly title: string;
  readonly description: string | null;
  /** 1 (most urgent) to 4; everything else sorts last. */
  readonly priority: number | null;
  readonly state: string;
  readonly branchName: string | null;
  readonly url: string | null;
  readonly assigneeId: string | null;
  /**
   * The author, by the names a workflow file may trust: id, login, e-mail. Absent where the tracker does not report it.
   */
  readonly authorNames?: readonly string[];
  readonly labels: readonly string[];
  readonly blockedBy: readonly Blocker[];
  /** The issue that it is a part of; absent where the tracker does not report it. */
  readonly parent?: { readonly id: string; readonly identifier: string } | null;
  /** Whether the adapter allows work on the issue at all, in any state (specification 11). */
  readonly dispatchable: boolean;
  /** What the adapter needs to find the issue again, if the id alone is not enough. */
  readonly nativeRef: Readonly<Record<string, unknown>> | null;
  readonly createdAt: number | null;
  readonly updatedAt: number | null;
}

/** An issue that has to end before another may start: a blocker, or a child of an issue that waits for its parts. */
export interface Blocker {
  readonly id: string | null;
  readonly identifier: string | null;
  readonly state: string | null;
}

/** State names are compared trimmed and without regard to case (specification 4.2). */
export function normalizeState(state: string): string {
  return state.trim().toLowerCase();
}

/** Whether an issue is in one of these states. */
export function isInOneOf(states: readonly string[]): (issue: Pick<Issue, 'state'>) => boolean {
  const names = new Set(states.map(normalizeState));
  // Thousands of issues are in a handful of states.
  const known = new Map<string, boolean>();
  return ({ state }) => {
    const isIn = known.get(state) ?? names.has(normalizeState(state));
    known.set(state, isIn);
    return isIn;
  };
}

/** Labels as they are compared: trimmed, lower-case, in order, without repeats and blanks. */
export function normalizeLabels(labels: readonly string[]): string[] {
  return [...new Set(labels.map((label) => label.trim().toLowerCase()))].filter((label) => label !== '');
}

/** Whether a text names this issue: its exact id, or its identifier in any case. */
export function isMeantBy({ id, identifier }: Pick<Issue, 'id' | 'identifier'>, reference: string): boolean {
  const wanted = reference.trim();
  return id === wanted || identifier.toLowerCase() === wanted.toLowerCase();
}
