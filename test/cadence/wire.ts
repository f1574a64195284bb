import type { Transport, TransportAnswer } from '../../src/http/transport.ts';
import type { FakeLinearCore } from '../fake/linear/fake-linear.ts';

/** How the service can be reached now. */
export type Weather = 'up' | 'refused' | 'hanging';

/** A request that was sent, whether it arrived or not. */
export interface Sent {
  readonly at: number;
  readonly operation: string;
  readonly hasArrived: boolean;
}

export interface Wire extends Transport {
  weather: Weather;
  readonly sent: Sent[];
}

/** A connection to a fake Linear without sockets, which records every request. */
export function createWire(linear: FakeLinearCore, now: () => number): Wire {
  const sent: Sent[] = [];
  const wire: Wire = {
    weather: 'up',
    sent,
    send: async ({ method, headers, body, signal, beforeLeaving }): Promise<TransportAnswer> => {
      signal.throwIfAborted();
      beforeLeaving?.();
      const { weather } = wire;
      sent.push({ at: now(), operation: operationIn(body), hasArrived: weather === 'up' });
      if (weather === 'refused') throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
      if (weather === 'hanging') return whenAborted(signal);
      const answer = await linear.handle({ method, headers, body: body ?? '' });
      if (answer.cut !== null) throw Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' });
      return { status: answer.status, headers: answer.headers, body: answer.body, bytes: answer.body.length };
    },
    [Symbol.asyncDispose]: async () => {},
  };
  return wire;
}

function operationIn(body: string | null): string {
  const { operationName } = JSON.parse(body ?? '{}') as { operationName?: string };
  return operationName ?? '';
}

function whenAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));
}
