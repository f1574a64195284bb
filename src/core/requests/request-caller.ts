/** Who sends a request to a remote service and why: what it is counted under, and what decides when requests get short. */
export interface RequestCaller {
  /** The job or part of Baton that asks: `tracker_poll`, `dispatch`, `workspace_sweep`, … */
  readonly job: string;
  readonly cause: RequestCause;
}

/**
 * - `poll`: what there is to do; `revalidation`: an issue again before its start; `retry`: an issue whose look is due.
 * - `running`: issues with a live run; `turn`: the issue between two turns; `agent`: what an agent asked for.
 * - `person`: a person waits for the answer; `sweep`: what could be tidied up.
 */
export type RequestCause = 'poll' | 'revalidation' | 'retry' | 'running' | 'turn' | 'agent' | 'person' | 'sweep';

/** What goes first when requests get short: custody of live runs, then work, then what may wait for better times. */
export type RequestImportance = 'custody' | 'work' | 'background';

const importances: Readonly<Record<RequestCause, RequestImportance>> = {
  running: 'custody',
  turn: 'custody',
  agent: 'custody',
  poll: 'work',
  revalidation: 'work',
  retry: 'work',
  person: 'work',
  sweep: 'background',
};

export function importanceOf({ cause }: RequestCaller): RequestImportance {
  return importances[cause];
}
