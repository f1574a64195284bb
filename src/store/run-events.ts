/** An index of what happened in a run: one line an event. The whole events are in transcript files, by the same `seq`. */
export interface RunEvents {
  append(runId: string, events: readonly RunEventDraft[]): Promise<void>;
  /** In order, from the one after `afterSeq`. */
  list(runId: string, query: { readonly afterSeq?: number; readonly limit: number }): Promise<readonly RunEventLine[]>;
  /**
   * Removes at most `limit` events of runs that ended before this; gives how many, 0 when none is left. So that a run
   * with very many events is not removed in one long step.
   */
  prune(endedBefore: number, limit: number): Promise<number>;
}

export interface RunEventLine {
  /** Counted per run from 1. A number that is missing is an event that was dropped; the line after tells of it. */
  readonly seq: number;
  readonly at: number;
  readonly name: string;
  readonly summary: string;
}

export interface RunEventDraft extends Omit<RunEventLine, 'seq'> {
  /** By whoever counts: such an event is written once, however often it comes. Without it the next number is taken. */
  readonly seq?: number;
}
