import type { AgentEvent } from '../../agent/agent.ts';
import type { RunEvent } from '../../client/schema/run.ts';
import { certainTime } from '../../core/text/time-text.ts';

/** Publishes the events of agents to watchers as they are recorded. */
export interface RunEvents {
  publish(runId: string, seq: number, event: AgentEvent): void;
  watch(watcher: (runId: string, event: () => RunEvent) => void): () => void;
}

export function createRunEvents(): RunEvents {
  const watchers = new Set<(runId: string, event: () => RunEvent) => void>();
  return {
    publish: (runId, seq, event) => {
      if (watchers.size === 0) return;
      let made: RunEvent | null = null;
      const make = (): RunEvent => {
        made ??= runEventOf(seq, event);
        return made;
      };
      for (const watcher of watchers) watcher(runId, make);
    },
    watch: (watcher) => {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
  };
}

/** An event of a run for the API; a large payload is left to the transcript. */
function runEventOf(seq: number, { at, name, summary, payload }: AgentEvent): RunEvent {
  return {
    seq,
    at: certainTime(at),
    event: name,
    message: summary,
    ...(isSmall(payload) ? { payload } : {}),
  };
}

const largestPayload = 16 * 1_024;

function isSmall(payload: unknown): boolean {
  if (payload === undefined) return false;
  try {
    return (JSON.stringify(payload) ?? '').length <= largestPayload;
  } catch {
    return false;
  }
}
