import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { type Clock, sleep } from '../../clock/clock.ts';
import { sharedRead } from '../shared-read.ts';

/** Which processes have which sockets open, as far as the kernel shows. */
export interface SocketHolders {
  /** Processes by the inode of a socket. Several processes have it open when it was inherited or passed on. */
  readonly pidsOf: ReadonlyMap<string, readonly number[]>;
  /** Processes that exist and may not be inspected. */
  readonly unreadable: ReadonlySet<number>;
}

/** Reading a link takes about 5 µs. After this many links, or this many processes, the event loop runs other work. */
const linksPerBatch = 400;
const processesPerBatch = 64;

/** Reads all holders once; callers that ask at once share the read. */
export function readSocketHolders(clock: Clock): Promise<SocketHolders> {
  const read = reads.get(clock) ?? sharedRead(() => readNow(clock));
  reads.set(clock, read);
  return read();
}

/** One per clock, because a read waits on its clock. */
const reads = new WeakMap<Clock, () => Promise<SocketHolders>>();

/** Whether this process has this socket open, now. */
export function holdsSocket(pid: number, inode: string): boolean {
  return (descriptorsOf(pid) ?? []).some((name) => socketAt(pid, name) === inode);
}

/**
 * Whether this process may have the socket where its list of descriptors does not show it: in the list of a thread that
 * has its own, in flight through a unix socket (SCM_RIGHTS), or registered with io_uring.
 */
export function mayHideSocket(pid: number, inode: string): boolean {
  return threadsOf(pid).some((thread) =>
    (descriptorsOf(thread) ?? []).some((name) => socketAt(thread, name) === inode || hasMoreFiles(thread, name)),
  );
}

/** Whether the kernel keeps files behind this descriptor that the list does not name. */
function hasMoreFiles(thread: string, descriptor: string): boolean {
  try {
    return /^(?:scm_fds|UserFiles):\s*[1-9]/m.test(readFileSync(`/proc/${thread}/fdinfo/${descriptor}`, 'latin1'));
  } catch {
    return false;
  }
}

function threadsOf(pid: number): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/task`).map((thread) => `${pid}/task/${thread}`);
  } catch {
    return [];
  }
}

async function readNow(clock: Clock): Promise<SocketHolders> {
  const pidsOf = new Map<string, number[]>();
  const unreadable = new Set<number>();
  let [links, processes] = [0, 0];
  for (const pid of readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)) {
    const names = descriptorsOf(pid);
    if (names === null) unreadable.add(pid);
    processes += 1;
    for (const name of names ?? []) {
      const inode = socketAt(pid, name);
      if (inode !== null) pidsOf.set(inode, [...new Set([...(pidsOf.get(inode) ?? []), pid])]);
      links += 1;
      if (links % linksPerBatch === 0) await sleep(clock, 0);
    }
    if (processes % processesPerBatch === 0) await sleep(clock, 0);
  }
  return { pidsOf, unreadable };
}

/** Null when Baton may not read them; empty when the process, or the thread `<pid>/task/<thread>`, has ended. */
function descriptorsOf(pid: number | string): readonly string[] | null {
  try {
    return readdirSync(`/proc/${pid}/fd`);
  } catch (error) {
    return error instanceof Error && 'code' in error && ['EACCES', 'EPERM'].includes(String(error.code)) ? null : [];
  }
}

function socketAt(pid: number | string, descriptor: string): string | null {
  try {
    return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${descriptor}`))?.[1] ?? null;
  } catch {
    return null;
  }
}
