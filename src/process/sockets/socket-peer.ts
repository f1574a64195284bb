import { isIP, isIPv4 } from 'node:net';
import { networkInterfaces } from 'node:os';
import { type Clock, sleep } from '../../clock/clock.ts';
import { findProcesses, type MarkedProcess, ownLine } from '../containment/marked-processes.ts';
import { type ProcessEntry, readProcessTable, startTimeOf } from '../containment/process-table.ts';
import { holdsSocket, readSocketHolders } from './socket-holders.ts';
import { findSocketEnd, hasSocketTable, type LocalConnection } from './socket-table.ts';

/**
 * Who is at the other end of a connection.
 *
 * - `user`: a process of our own user that was seen to have it, and none that has it came out of a run.
 * - `run`: a process that came out of a run has it.
 * - `other`: another user, another machine, or a process that cannot be looked into.
 * - `nobody`: it has gone, or it may be an agent that hides. Never to be believed, whatever it shows.
 * - `untold`: this machine tells nobody apart.
 */
export type SocketPeer =
  | { readonly kind: 'user' | 'other' | 'nobody' | 'untold' }
  | { readonly kind: 'run'; readonly runId: string };

export interface PeerFinderParts {
  /** Whose runs are known by name; those of any other Baton are runs too. */
  readonly daemonIds: ReadonlySet<string>;
  /** Our own; null where the platform has none. */
  readonly uid: number | null;
  readonly clock: Clock;
}

/** The kernel's tables are read piece by piece: what changed meanwhile may be missed once, and hardly again. */
const mostLooks = 3;
const lookAgainMs = 25;

/**
 * Tells who is at the other end of connections. What must hold: no connection counts as a user's because nothing was found about it.
 * Holders are looked up before runs are: a process that comes between the two looks is in the later one, with its parents.
 */
export function createPeerFinder(parts: PeerFinderParts): (connection: LocalConnection) => Promise<SocketPeer> {
  const { uid, clock } = parts;
  let inherited: Promise<ReadonlySet<string>> | null = null;
  return async (connection) => {
    if (uid === null || !hasSocketTable()) return { kind: 'untold' };
    const { remoteAddress } = connection;
    // A connection that has ended has no other end any more.
    if (isIP(remoteAddress) === 0) return { kind: 'nobody' };
    if (!isOfThisMachine(remoteAddress)) return { kind: 'other' };
    inherited ??= inheritedMarkers(clock);
    const isRun = runRule(parts.daemonIds, await inherited);
    let peer: SocketPeer = { kind: 'nobody' };
    for (let look = 0; look < mostLooks; look++) {
      if (look > 0) await sleep(clock, lookAgainMs);
      const seen = await lookAt(connection, uid, isRun, parts);
      if (seen.isSure) return seen.peer;
      peer = seen.peer;
    }
    // From an address that others have too, it may have come by way of a router that put this machine's in its place.
    return peer.kind === 'nobody' && !isLoopback(remoteAddress) ? { kind: 'other' } : peer;
  };
}

interface Seen {
  readonly peer: SocketPeer;
  /** False where another look may tell more. */
  readonly isSure: boolean;
}

async function lookAt(
  connection: LocalConnection,
  uid: number,
  isRun: (entry: ProcessEntry) => boolean,
  { daemonIds, clock }: PeerFinderParts,
): Promise<Seen> {
  const end = await findSocketEnd(connection);
  if (end === null) return { peer: { kind: 'nobody' }, isSure: false };
  // Root sees into everybody's processes, and an agent of root may have become somebody else.
  if (end.uid !== uid && uid !== 0) return { peer: { kind: 'other' }, isSure: true };
  const { pidsOf, unreadable } = await readSocketHolders(clock);
  const holders = (pidsOf.get(end.inode) ?? []).map((pid) => ({ pid, startTime: startTimeOf(pid) }));
  const ofRuns = await findMembers(isRun, clock);
  if (holders.some(({ pid }) => ofRuns.has(pid))) {
    // By name where it is one of ours: the run of another Baton says nothing here.
    const ours = await findMembers(({ daemonId }) => daemonId !== null && daemonIds.has(daemonId), clock);
    const runId = holders.map(({ pid }) => ours.get(pid)?.runId).find((found) => found != null) ?? 'unknown';
    return { peer: { kind: 'run', runId }, isSure: true };
  }
  const isStillThere = holders.some(
    ({ pid, startTime }) => startTime !== null && startTimeOf(pid) === startTime && holdsSocket(pid, end.inode),
  );
  if (isStillThere) return { peer: { kind: end.uid === uid ? 'user' : 'other' }, isSure: true };
  const isHidden = holders.length === 0 && (await findSocketEnd(connection))?.inode === end.inode;
  const mayBeRun = !isHidden || (await findHiding(unreadable, ofRuns, clock));
  return { peer: { kind: mayBeRun ? 'nobody' : 'other' }, isSure: false };
}

/** Whether one that may not be looked into came out of a run, or out of us: then its marker cannot be read either. */
async function findHiding(
  unreadable: ReadonlySet<number>,
  ofRuns: ReadonlyMap<number, MarkedProcess>,
  clock: Clock,
): Promise<boolean> {
  const childrenOf = Map.groupBy(await readProcessTable(clock), (entry) => entry.parentPid);
  const ours = new Set([process.pid, ...ofRuns.keys()]);
  // A set shows its loop also what is added meanwhile: this walks down to the last generation.
  for (const pid of ours) for (const child of childrenOf.get(pid) ?? []) ours.add(child.pid);
  return [...unreadable].some((pid) => ours.has(pid));
}

/**
 * All that came out of runs, as for their end: what carries a marker, what is in a session with that, and all their
 * descendants; also what this daemon itself came out of, when one of its own agents started it.
 */
async function findMembers(
  isMarked: (entry: ProcessEntry) => boolean,
  clock: Clock,
): Promise<ReadonlyMap<number, MarkedProcess>> {
  const { members, spared } = await findProcesses({ isMarked, known: new Map(), spared: ownLine() }, clock);
  return new Map([...members, ...spared].map((each) => [each.pid, each]));
}

/** Any marker makes a run, but not one that this daemon inherited: then it stands on everything around it. */
function runRule(daemonIds: ReadonlySet<string>, inherited: ReadonlySet<string>): (entry: ProcessEntry) => boolean {
  return (entry) => {
    const marker = markerOf(entry);
    return marker !== null && (daemonIds.has(marker) || !inherited.has(marker));
  };
}

/** Of the Baton whose agent started this one, if it was one. It does not change: nobody gets new forefathers. */
async function inheritedMarkers(clock: Clock): Promise<ReadonlySet<string>> {
  const line = new Set([...ownLine()].map((key) => Number(key.split(' ')[0])));
  const table = await readProcessTable(clock);
  return new Set(table.flatMap((entry) => (line.has(entry.pid) ? (markerOf(entry) ?? []) : [])));
}

function markerOf({ daemonId, runId }: ProcessEntry): string | null {
  return daemonId ?? runId;
}

function isOfThisMachine(address: string): boolean {
  const plain = plainAddress(address);
  if (isLoopback(plain)) return true;
  return Object.values(networkInterfaces()).some((all) => all?.some((own) => own.address === plain));
}

function isLoopback(address: string): boolean {
  const plain = plainAddress(address);
  return plain === '::1' || (isIPv4(plain) && plain.startsWith('127.'));
}

/** One of four bytes may be written as one of sixteen. */
function plainAddress(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '');
}
