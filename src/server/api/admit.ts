import { isIPv4, type Socket } from 'node:net';
import { type Clock, sleep } from '../../clock/clock.ts';
import { markKnown } from '../connections.ts';
import { refuse } from '../refusal.ts';
import type { ApiBindings, Caller } from './caller.ts';
import { type RateLimit, RequestRate } from './request-rate.ts';

/** Identifies the caller, or returns the error response when the caller cannot be identified. */
export type Identify = (request: Request, bindings: ApiBindings | undefined) => Promise<Caller | Response>;

/**
 * A page sends a handful of requests, a script some, and hundreds may arrive at once after a restart. More is a runaway
 * loop.
 */
const ratePerson: RateLimit = { burst: 600, perSecond: 100 };
/** An agent has its own tools; it uses the API only to read something or to stop work. */
const rateRun: RateLimit = { burst: 60, perSecond: 10 };
/** To refuse an unidentified caller, Baton must read the machine's connections, which is costly. */
const rateRefused: RateLimit = { burst: 200, perSecond: 100 };
/** At most this many new connections wait, one after the other, while the rate is used up: about a second. */
const mostInLine = 100;
const checkEveryMs = 10;

/**
 * Identifies a caller and limits requests per caller. What must hold: no caller uses up the limit of another, however
 * many connections it opens; refused callers slow down new connections, but not those whose caller is known.
 */
export function createAdmit(identify: Identify, clock: Clock): Identify {
  const people = new RequestRate(clock, ratePerson);
  const runs = new RequestRate(clock, rateRun);
  const admitUnidentified = limitUnidentified(clock);
  /** Connections whose caller was found before. */
  const seen = new WeakSet<Socket>();

  const find: Identify = async (request, bindings) => {
    const socket = bindings?.incoming?.socket;
    if (socket !== undefined && seen.has(socket)) return identify(request, bindings);
    const admitted = await admitUnidentified(socket?.remoteAddress);
    if (admitted === null) return tooMany({ connection: 'close' });
    const caller = await identify(request, bindings);
    if (!(caller instanceof Response)) admitted.giveBack();
    return caller;
  };

  return async (request, bindings) => {
    const caller = await find(request, bindings);
    if (caller instanceof Response) return caller;
    const { author } = caller;
    const socket = bindings?.incoming?.socket;
    if (socket !== undefined) seen.add(socket);
    // The connections of agents stay replaceable, so agents cannot keep people out.
    if (socket !== undefined && author.kind !== 'run') markKnown(socket);
    const isAllowed = author.kind === 'run' ? runs.take(author.runId) : people.take(JSON.stringify(author));
    return isAllowed ? caller : tooMany();
  };
}

export function tooMany(headers: Readonly<Record<string, string>> = {}): Response {
  return refuse('too_many_requests', { headers: { 'retry-after': '1', ...headers } });
}

/** Allows a new connection to be identified; null when too many before it were refused. */
function limitUnidentified(clock: Clock) {
  const refused = new RequestRate(clock, rateRefused);
  const inLine = createLine(clock);
  return async (address = 'unknown'): Promise<{ giveBack(): void } | null> => {
    const isHere = isOfThisMachine(address);
    const place = isHere ? 'here' : address;
    const isWithinRate = (): boolean => refused.take(place);
    // On this machine all callers share an address or choose one freely, so the address does not show who sends too
    // much.
    if (isWithinRate() || (isHere && (await inLine(isWithinRate)))) return { giveBack: () => refused.give(place) };
    return null;
  };
}

/** Waiting callers proceed one after the other, each as soon as `mayGo` allows. Returns false when the line is full. */
function createLine(clock: Clock): (mayGo: () => boolean) => Promise<boolean> {
  let last: Promise<void> = Promise.resolve();
  let length = 0;
  return async (mayGo) => {
    if (length >= mostInLine) return false;
    length += 1;
    last = last.then(async () => {
      while (!mayGo()) await sleep(clock, checkEveryMs);
      length -= 1;
    });
    await last;
    return true;
  };
}

export function isOfThisMachine(address: string): boolean {
  const plain = address.replace(/^::ffff:/i, '');
  return plain === '::1' || plain === 'unknown' || (isIPv4(plain) && plain.startsWith('127.'));
}
