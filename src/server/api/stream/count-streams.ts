import type { ServerResponse } from 'node:http';
import { type Identify, tooMany } from '../admit.ts';
import { callerKey } from '../caller.ts';

/**
 * Limits for event streams, well below the connection limit of a listener, so that other requests still get
 * connections.
 */
export interface StreamLimits {
  readonly most: number;
  readonly mostOfOne: number;
  /** For all agents together. */
  readonly mostOfRuns: number;
}

const usualLimits: StreamLimits = { most: 600, mostOfOne: 500, mostOfRuns: 20 };

/** Identifies callers that open a stream, and counts open streams per caller. */
export function countStreams(identify: Identify, given: Partial<StreamLimits> = {}): Identify {
  const { most, mostOfOne, mostOfRuns } = { ...usualLimits, ...given };
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
