/** An index of what happened in a run: one line an event. The whole events are in transcript files, by the same `seq`. */
export interface RunEvents {
  append(runId: string, events: readonly RunEventDraft[]): Promise<void>;
  /** In order, from the one after `afterSeq`. */
  list(runId: string, query: { readonly afterSeq?: number; readonly limit: number }): Promise<readonly RunEventLine[]>;
  /** The last ones before `beforeSeq`, or of all; in order too. */
  listLast(
    runId: string,
    query: { readonly beforeSeq?: number; readonly limit: number },
  ): Promise<readonly RunEventLine[]>;
  /** Those of these names, in order: the first ones, or the last. */
  named(
    runId: string,
    names: readonly string[],
    query: { readonly from: 'first' | 'last'; readonly limit: number },
  ): Promise<readonly RunEventLine[]>;
  /** Looks for a text in the summaries of a few events, whatever its case as far as letters of ASCII go. */
  search(runId: string, query: RunEventSearch): Promise<RunEventsFound>;
  /**
   * Removes at most `limit` events of runs that ended before this; gives how many, 0 when none is left. So that a run
   * with very many events is not removed in one long step.
   */
  prune(endedBefore: number, limit: number): Promise<number>;
}

export interface RunEventSearch {
  readonly text: string;
  readonly afterSeq: number;
  /** So many events are looked at, however few have the text. */
  readonly scan: number;
}

export interface RunEventsFound {
  readonly events: readonly RunEventLine[];
  /** Where to look on; null when there is no more. */
  readonly next: number | null;
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
