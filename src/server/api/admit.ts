import { isIPv4, type Socket } from 'node:net';
import { type Clock, sleep } from '../../clock/clock.ts';
import { vouchFor } from '../connections.ts';
import { refuse } from '../refusal.ts';
import type { ApiBindings, Caller } from './caller.ts';
import { type RateLimit, RequestRate } from './request-rate.ts';

/** Who sends this; an answer that refuses him where nobody may be he. */
export type Identify = (request: Request, bindings: ApiBindings | undefined) => Promise<Caller | Response>;

/** A page asks for a handful, a script for some, hundreds may come back at once after a restart; more is a loop gone wild. */
const ratePerson: RateLimit = { burst: 600, perSecond: 100 };
/** An agent has its tools; here it looks something up, or stops work. */
const rateRun: RateLimit = { burst: 60, perSecond: 10 };
/** To find out that somebody is nobody costs a look at the machine's connections. */
const rateRefused: RateLimit = { burst: 200, perSecond: 100 };
/** So many new connections wait while that is used up, each for its turn: about a second. */
const mostInLine = 100;
const lookAgainMs = 10;

/**
 * Identifies a caller and counts by who he is. What must hold: nobody uses up what another has, in whatever number he
 * comes; those who are refused slow down new connections, and not those whose caller is known.
 */
export function createAdmit(identify: Identify, clock: Clock): Identify {
  const people = new RequestRate(clock, ratePerson);
  const runs = new RequestRate(clock, rateRun);
  const looks = createLooks(clock);
  /** Connections whose caller was found before. */
  const seen = new WeakSet<Socket>();

  const find: Identify = async (request, bindings) => {
    const socket = bindings?.incoming?.socket;
    if (socket !== undefined && seen.has(socket)) return identify(request, bindings);
    const look = await looks(socket?.remoteAddress);
    if (look === null) return tooMany({ connection: 'close' });
    const caller = await identify(request, bindings);
    if (!(caller instanceof Response)) look.giveBack();
    return caller;
  };

  return async (request, bindings) => {
    const caller = await find(request, bindings);
    if (caller instanceof Response) return caller;
    const { author } = caller;
    const socket = bindings?.incoming?.socket;
    if (socket !== undefined) seen.add(socket);
    // An agent does not keep people out either, whatever it holds.
    if (socket !== undefined && author.kind !== 'run') vouchFor(socket);
    const isHeard = author.kind === 'run' ? runs.take(author.runId) : people.take(JSON.stringify(author));
    return isHeard ? caller : tooMany();
  };
}

export function tooMany(headers: Readonly<Record<string, string>> = {}): Response {
  return refuse('too_many_requests', { headers: { 'retry-after': '1', ...headers } });
}

/** Lets new connections be looked at; null when too many of them were nobody's. */
function createLooks(clock: Clock) {
  const refused = new RequestRate(clock, rateRefused);
  const inLine = createLine(clock);
  return async (address = 'nobody'): Promise<{ giveBack(): void } | null> => {
    const isHere = isOfThisMachine(address);
    const place = isHere ? 'here' : address;
    const may = (): boolean => refused.take(place);
    // On this machine everybody has the same address, or whichever he likes: nobody can be told off for another.
    if (may() || (isHere && (await inLine(may)))) return { giveBack: () => refused.give(place) };
    return null;
  };
}

/** One after the other, each as soon as it may; false for those who find too many before them. */
function createLine(clock: Clock): (mayGo: () => boolean) => Promise<boolean> {
  let last: Promise<void> = Promise.resolve();
  let length = 0;
  return async (mayGo) => {
    if (length >= mostInLine) return false;
    length += 1;
    last = last.then(async () => {
      while (!mayGo()) await sleep(clock, lookAgainMs);
      length -= 1;
    });
    await last;
    return true;
  };
}

export function isOfThisMachine(address: string): boolean {
  const plain = address.replace(/^::ffff:/i, '');
  return plain === '::1' || plain === 'nobody' || (isIPv4(plain) && plain.startsWith('127.'));
}
