import type { ServerResponse } from 'node:http';
import { type Identify, tooMany } from '../admit.ts';
import { callerKey } from '../caller.ts';

/** How many event streams there may be: well below the connections of a listener, so that there is room for the rest. */
export interface StreamLimits {
  readonly most: number;
  readonly mostOfOne: number;
  /** Of all agents together. */
  readonly mostOfRuns: number;
}

const usualLimits: StreamLimits = { most: 600, mostOfOne: 500, mostOfRuns: 20 };

/** Identifies those who want to listen, and counts them by who they are for as long as they do. */
export function countStreams(identify: Identify, wished: Partial<StreamLimits> = {}): Identify {
  const { most, mostOfOne, mostOfRuns } = { ...usualLimits, ...wished };
  const open = new Map<ServerResponse, string>();
  return async (request, bindings) => {
    const caller = await identify(request, bindings);
    const outgoing = bindings?.outgoing;
    if (caller instanceof Response || outgoing === undefined) return caller;
    const key = callerKey(caller);
    const own = [...open.values()].filter((each) => each === key).length;
    const isFull = open.size >= most || own >= (caller.author.kind === 'run' ? mostOfRuns : mostOfOne);
    if (isFull) return tooMany({ 'retry-after': '5' });
    open.set(outgoing, key);
    outgoing.once('close', () => open.delete(outgoing));
    return caller;
  };
}
