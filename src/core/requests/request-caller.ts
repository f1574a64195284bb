/**
 * Who sends a request to a remote service and why: Baton counts requests by it and ranks them when requests get short.
 */
export interface RequestCaller {
  /** The job or part of Baton that asks: `tracker_poll`, `dispatch`, `workspace_sweep`, … */
  readonly job: string;
  readonly cause: RequestCause;
}

/**
 * - `poll`: the list of candidates; `revalidation`: an issue again before its start; `retry`: an issue whose retry is
 *   due.
 * - `running`: issues with a live run; `turn`: the issue between two turns; `agent`: a request of an agent.
 * - `person`: a person waits for the answer; `sweep`: a search for things to tidy up.
 */
export type RequestCause = 'poll' | 'revalidation' | 'retry' | 'running' | 'turn' | 'agent' | 'person' | 'sweep';

/** The order when requests get short: essential requests for live runs, then work, then reads that may wait. */
export type RequestImportance = 'essential' | 'work' | 'background';

const importances: Readonly<Record<RequestCause, RequestImportance>> = {
  running: 'essential',
  turn: 'essential',
  agent: 'essential',
  poll: 'work',
  revalidation: 'work',
  retry: 'work',
  person: 'work',
  sweep: 'background',
};

export function importanceOf({ cause }: RequestCaller): RequestImportance {
  return importances[cause];
}
