/** An index of what happened in a run: one line an event. The whole events are in transcript files. */
export interface RunEvents {
  append(runId: string, events: readonly Omit<RunEventLine, 'seq'>[]): Promise<void>;
  /** In order, from the one after `afterSeq`. */
  list(runId: string, query: { readonly afterSeq?: number; readonly limit: number }): Promise<readonly RunEventLine[]>;
  /**
   * Removes at most `limit` events of runs that ended before this; gives how many, 0 when none is left. So that a run
   * with very many events is not removed in one long step.
   */
  prune(endedBefore: number, limit: number): Promise<number>;
}

export interface RunEventLine {
  /** Counted per run from 1, without gaps. */
  readonly seq: number;
  readonly at: number;
  readonly name: string;
  readonly summary: string;
}
