import { readFileSync } from 'node:fs';
import { isIP, isIPv4 } from 'node:net';
import { networkInterfaces } from 'node:os';
import { type Clock, sleep } from '../../clock/clock.ts';
import { findProcesses, type MarkedProcess, ownAncestry } from '../containment/marked-processes.ts';
import { type ProcessEntry, readProcessTable, startTimeOf } from '../containment/process-table.ts';
import { holdsSocket, mayHideSocket, readSocketHolders } from './socket-holders.ts';
import { findSocketEnd, hasSocketTable, type LocalConnection } from './socket-table.ts';

/**
 * Who is at the other end of a connection.
 *
 * - `user`: a process of our own user has the connection, and no process that has it descends from a run.
 * - `run`: a process that descends from a run has the connection.
 * - `other`: another user, another machine, or a process that cannot be inspected.
 * - `unidentified`: the peer has gone, no process has the connection open, or it may be an agent that hides. Never
 *   trusted, not even with a valid token. `hidingIn` names the runs whose processes may have it (`unknown`: of some run).
 * - `unsupported`: this machine cannot identify peers.
 */
export type SocketPeer =
  | { readonly kind: 'user' | 'other' | 'unsupported' }
  | { readonly kind: 'unidentified'; readonly hidingIn?: readonly string[] }
  | { readonly kind: 'run'; readonly runId: string };

export interface PeerFinderParts {
  /** Daemons whose run ids are reported. A run of any other daemon is reported as run `unknown`. */
  readonly daemonIds: ReadonlySet<string>;
  /** The user of this process; null where the platform has no user ids. */
  readonly uid: number | null;
  readonly clock: Clock;
}

/** The kernel's tables are read piece by piece: a read may miss a concurrent change, and the next one rarely does. */
const maxReads = 3;
const readAgainAfterMs = 25;

/**
 * Finds who is at the other end of connections. What must hold: a connection never counts as the user's only because
 * nothing was found about it. The holders of sockets are read before the processes of runs: a process that starts
 * between the two reads is then in the second one, with its parents.
 */
export function createPeerFinder(parts: PeerFinderParts): (connection: LocalConnection) => Promise<SocketPeer> {
  const { uid, clock } = parts;
  let inherited: Promise<ReadonlySet<string>> | null = null;
  return async (connection) => {
    if (uid === null || !hasSocketTable()) return { kind: 'unsupported' };
    const { remoteAddress } = connection;
    // A connection that has ended has no other end any more.
    if (isIP(remoteAddress) === 0) return gone;
    if (!isOfThisMachine(remoteAddress)) return { kind: 'other' };
    inherited ??= inheritedMarkers(clock);
    const isRun = runRule(parts.daemonIds, await inherited);
    const { peer, hasEnd } = await readUntilSure(() => readPeer(connection, uid, isRun, parts), clock);
    // On an address that other machines can reach, a router may have replaced the sender's address by this machine's.
    return hasEnd || isLoopback(remoteAddress) ? peer : { kind: 'other' };
  };
}

/** The first sure result. Otherwise the last one, or the last that found a run which may hide the connection. */
async function readUntilSure(read: () => Promise<Seen>, clock: Clock): Promise<Seen> {
  let suspect: Seen | null = null;
  for (let reads = 1; ; reads++) {
    const seen = await read();
    if (seen.isSure) return seen;
    if (seen.peer.kind === 'unidentified' && seen.peer.hidingIn !== undefined) suspect = seen;
    if (reads === maxReads) return suspect ?? seen;
    await sleep(clock, readAgainAfterMs);
  }
}

const gone: SocketPeer = { kind: 'unidentified' };

interface Seen {
  readonly peer: SocketPeer;
  /** Whether the other end is on this machine. */
  readonly hasEnd: boolean;
  /** False where another read may find more. */
  readonly isSure: boolean;
}

async function readPeer(
  connection: LocalConnection,
  uid: number,
  isRun: (entry: ProcessEntry) => boolean,
  { daemonIds, clock }: PeerFinderParts,
): Promise<Seen> {
  const end = await findSocketEnd(connection);
  if (end === null) return { peer: gone, hasEnd: false, isSure: false };
  const sure = (peer: SocketPeer): Seen => ({ peer, hasEnd: true, isSure: true });
  const unsure = (peer: SocketPeer): Seen => ({ peer, hasEnd: true, isSure: false });
  // Root can inspect every process, and an agent of root may have changed its user.
  if (end.uid !== uid && uid !== 0) return sure({ kind: 'other' });
  const { pidsOf, unreadable } = await readSocketHolders(clock);
  const holders = (pidsOf.get(end.inode) ?? []).map((pid) => ({ pid, startTime: startTimeOf(pid) }));
  const ofRuns = await findMembers(isRun, clock);
  if (holders.some(({ pid }) => ofRuns.has(pid))) {
    // Run ids of other daemons mean nothing here.
    const ours = await findMembers(({ daemonId }) => daemonId !== null && daemonIds.has(daemonId), clock);
    return sure({ kind: 'run', runId: holders.map(({ pid }) => ours.get(pid)?.runId).find(Boolean) ?? 'unknown' });
  }
  const isStillThere = holders.some(
    ({ pid, startTime }) => startTime !== null && startTimeOf(pid) === startTime && holdsSocket(pid, end.inode),
  );
  if (isStillThere) return sure({ kind: end.uid === uid ? 'user' : 'other' });
  const runOf = await withDescendants(ofRuns, clock);
  const hidingIn = [...runOf].flatMap(([pid, runId]) =>
    unreadable.has(pid) || (ofRuns.has(pid) && mayHideSocket(pid, end.inode)) ? runId : [],
  );
  const isHidden = holders.length === 0 && (await findSocketEnd(connection))?.inode === end.inode;
  // A connection of our user belongs to a process of our user, so without one that cannot be inspected it is in flight.
  const hasHolder = end.uid !== uid || [...unreadable].some((pid) => !runOf.has(pid) && runsAs(pid, uid));
  if (isHidden && hasHolder && hidingIn.length === 0) return unsure({ kind: 'other' });
  return unsure(hidingIn.length === 0 ? gone : { kind: 'unidentified', hidingIn: [...new Set(hidingIn)] });
}

/**
 * The processes of runs, and all that descend from them or from us, with their run: a process that cannot be inspected
 * has no marker that could be read.
 */
async function withDescendants(
  ofRuns: ReadonlyMap<number, MarkedProcess>,
  clock: Clock,
): Promise<ReadonlyMap<number, string>> {
  const childrenOf = Map.groupBy(await readProcessTable(clock), (entry) => entry.parentPid);
  const runOf = new Map([...ofRuns].map(([pid, { runId }]) => [pid, runId ?? 'unknown']));
  runOf.set(process.pid, 'unknown');
  // Iterating over a map also visits entries added meanwhile: this walks down to the last generation.
  for (const [pid, runId] of runOf)
    for (const child of childrenOf.get(pid) ?? []) if (!runOf.has(child.pid)) runOf.set(child.pid, runId);
  return runOf;
}

/** Whether a process, which may be one that cannot be inspected, has this user id: real, effective or saved. */
function runsAs(pid: number, uid: number): boolean {
  try {
    const ids = /^Uid:(.*)$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? '';
    return ids.trim().split(/\s+/).includes(String(uid));
  } catch {
    return false;
  }
}

/**
 * All processes of runs, found as when a run is ended: those with a marker, those in a session with them, and all
 * their descendants. Also the ancestors of this daemon if one of its own agents started it.
 */
async function findMembers(
  isMarked: (entry: ProcessEntry) => boolean,
  clock: Clock,
): Promise<ReadonlyMap<number, MarkedProcess>> {
  const { members, spared } = await findProcesses({ isMarked, known: new Map(), spared: ownAncestry() }, clock);
  return new Map([...members, ...spared].map((each) => [each.pid, each]));
}

/** Any marker makes a process part of a run, except one that this daemon inherited: all its own children carry that. */
function runRule(daemonIds: ReadonlySet<string>, inherited: ReadonlySet<string>): (entry: ProcessEntry) => boolean {
  return (entry) => {
    const marker = markerOf(entry);
    return marker !== null && (daemonIds.has(marker) || !inherited.has(marker));
  };
}

/** The markers of the Baton whose agent started this one, if any. They do not change, because the ancestors do not. */
async function inheritedMarkers(clock: Clock): Promise<ReadonlySet<string>> {
  const ancestors = new Set([...ownAncestry()].map((key) => Number(key.split(' ')[0])));
  const table = await readProcessTable(clock);
  return new Set(table.flatMap((entry) => (ancestors.has(entry.pid) ? (markerOf(entry) ?? []) : [])));
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

/** An IPv4 address may be written as an IPv6 one. */
function plainAddress(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '');
}
