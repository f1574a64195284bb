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
 * - `user`: a process of our own user was seen to have it, and no process that has it descends from a run.
 * - `run`: a process that descends from a run has it.
 * - `other`: another user, another machine, or a process that cannot be inspected.
 * - `nobody`: it has gone, or it may be a hiding agent. Never trusted, whatever it presents.
 * - `untold`: this machine cannot tell peers apart.
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

/** The kernel's tables are read piece by piece: a concurrent change may be missed once, and hardly again. */
const mostLooks = 3;
const lookAgainMs = 25;

/**
 * Finds who is at the other end of connections. What must hold: a connection never counts as a user's only because
 * nothing was found about it. Holders are read before runs: a process that starts between the two reads is in the later
 * one, with its parents.
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
  /** False where another read may find more. */
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
  // Root can inspect every process, and an agent of root may have changed its user.
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

/** Whether an uninspectable process descends from a run, or from us: then its marker cannot be read either. */
async function findHiding(
  unreadable: ReadonlySet<number>,
  ofRuns: ReadonlyMap<number, MarkedProcess>,
  clock: Clock,
): Promise<boolean> {
  const childrenOf = Map.groupBy(await readProcessTable(clock), (entry) => entry.parentPid);
  const ours = new Set([process.pid, ...ofRuns.keys()]);
  // Iterating over a set also visits members added meanwhile: this walks down to the last generation.
  for (const pid of ours) for (const child of childrenOf.get(pid) ?? []) ours.add(child.pid);
  return [...unreadable].some((pid) => ours.has(pid));
}

/**
 * All processes of runs, by the same rule as when a run is ended: those that carry a marker, those in a session with
 * them, and all their descendants; also the ancestors of this daemon, when one of its own agents started it.
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

/** The markers of the Baton whose agent started this one, if any. They do not change, because the ancestors do not. */
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
