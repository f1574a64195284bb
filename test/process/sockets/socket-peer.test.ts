import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { systemClock } from '../../../src/clock/system-clock.ts';
import { createPeerFinder, type SocketPeer } from '../../../src/process/sockets/socket-peer.ts';
import { findSocketEnd, type LocalConnection } from '../../../src/process/sockets/socket-table.ts';

const linux = process.platform === 'linux';
const isRoot = process.getuid?.() === 0;
/** The user `nobody`, who owns nothing. */
const nobody = 65_534;
const marks = { BATON_DAEMON_ID: 'daemon-of-this-test', BATON_RUN_ID: 'run-7' };
const foreignMarks = { BATON_DAEMON_ID: 'another-daemon', BATON_RUN_ID: 'run-9' };
const uid = process.getuid?.() ?? null;
const find = createPeerFinder({ daemonIds: new Set(['daemon-of-this-test']), uid, clock: systemClock });

async function serverAt(host: string): Promise<{ readonly server: Server; readonly port: number }> {
  const server = createServer();
  server.listen(0, host);
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { server, port: (server.address() as AddressInfo).port };
}

async function nextConnection(server: Server): Promise<LocalConnection> {
  const [socket] = (await once(server, 'connection')) as [Socket];
  socket.on('error', () => {});
  onTestFinished(() => void socket.destroy());
  return connectionOf(socket);
}

function connectionOf({
  localAddress = '',
  localPort = 0,
  remoteAddress = '',
  remotePort = 0,
}: Socket): LocalConnection {
  return { localAddress, localPort, remoteAddress, remotePort };
}

interface ClientChoices {
  readonly env?: Record<string, string>;
  /** The command that starts the program. */
  readonly wrapper?: readonly string[];
  /** More code of the program; `s` is the connection. */
  readonly after?: string;
}

/** Starts a program that opens a connection and keeps it open. */
function connect(options: object, { env = {}, wrapper = [], after = '' }: ClientChoices = {}): ChildProcess {
  const program = `const s = require('node:net').connect(${JSON.stringify(options)}); s.on('error', () => {});
    setTimeout(() => {}, 60000); ${after}`;
  return start([...wrapper, process.execPath, '-e', program], env);
}

function start([command = '', ...args]: readonly string[], env: Record<string, string>): ChildProcess {
  const child = spawn(command, args, {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
    cwd: '/',
  });
  onTestFinished(() => endGroup(child));
  return child;
}

function endGroup({ pid = 0 }: ChildProcess): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}

async function connectedBy(host: string, choices: ClientChoices = {}, to = host): Promise<LocalConnection> {
  const { server, port } = await serverAt(host);
  connect({ port, host: to }, choices);
  return nextConnection(server);
}

describe.runIf(linux)('the peer of a local connection', () => {
  it.each([
    ['127.0.0.1', '127.0.0.1'],
    ['127.0.0.2', '127.0.0.2'],
    ['::1', '::1'],
    ['::', '127.0.0.1'],
    ['127.0.0.1', '::ffff:127.0.0.1'],
  ])('is the user when a program of the user has it, at %s through %s', async (host, to) => {
    const connection = await connectedBy(host, {}, to);
    expect(await findSocketEnd(connection)).toMatchObject({ uid });
    expect(await find(connection)).toEqual({ kind: 'user' });
  });

  it('is unidentified when there is no such connection', async () => {
    const connection = { localAddress: '127.0.0.1', localPort: 1, remoteAddress: '127.0.0.1', remotePort: 2 };
    expect(await find(connection)).toEqual({ kind: 'unidentified' });
    // The address of a connection that has ended.
    expect(await find({ ...connection, remoteAddress: '', remotePort: 0 })).toEqual({ kind: 'unidentified' });
  });

  it('is "other" on another machine', async () => {
    const connection = { localAddress: '192.0.2.1', localPort: 1, remoteAddress: '192.0.2.2', remotePort: 2 };
    expect(await find(connection)).toEqual({ kind: 'other' });
  });

  it('is unsupported where the platform has no user ids', async () => {
    const findWithoutUid = createPeerFinder({ daemonIds: new Set(), uid: null, clock: systemClock });
    expect(await findWithoutUid(await connectedBy('127.0.0.1'))).toEqual({ kind: 'unsupported' });
  });

  // @conforms api.22
  it('is a run when its process, or an ancestor of it, carries a marker of the daemon', async () => {
    const open = await connectedBy('127.0.0.1', { env: marks });
    // It clears its environment, and is still a child of the run.
    const hidden = await connectedBy('127.0.0.1', {
      env: marks,
      wrapper: ['sh', '-c', 'env -i "$@" & wait', 'sh'],
    });
    for (const connection of [open, hidden]) expect(await find(connection)).toEqual({ kind: 'run', runId: 'run-7' });
  });

  // @conforms api.50
  it('is an unknown run when the marker is from another Baton', async () => {
    const connection = await connectedBy('127.0.0.1', { env: foreignMarks });
    expect(await find(connection)).toEqual({ kind: 'run', runId: 'unknown' });
  });

  it('is a run when one of several processes that have it belongs to a run', async () => {
    // The child is given the connection and carries a marker, the parent does not.
    const child = `require('node:child_process').spawn('sleep', ['60'], { env: { ...process.env, ...${JSON.stringify(marks)} }, stdio: ['ignore', 'ignore', s] })`;
    const { server, port } = await serverAt('127.0.0.1');
    const parent = connect(
      { port, host: '127.0.0.1' },
      {
        after: `s.on('connect', () => { ${child}.on('spawn', () => console.log('shared')); })`,
      },
    );
    const connection = await nextConnection(server);
    await once(parent.stdout ?? parent, 'data');
    expect(await find(connection)).toEqual({ kind: 'run', runId: 'run-7' });
  });

  // @conforms api.44
  it('is not confused with a peer on the same port of another address', async () => {
    const { server, port } = await serverAt('127.0.0.1');
    connect({ port, host: '127.0.0.1' });
    const person = await nextConnection(server);
    connect({ port, host: '127.0.0.1', localAddress: '127.0.0.2', localPort: person.remotePort }, { env: marks });
    const agent = await nextConnection(server);
    expect(agent).toMatchObject({ remoteAddress: '127.0.0.2', remotePort: person.remotePort });
    expect(await find(agent)).toEqual({ kind: 'run', runId: 'run-7' });
    expect(await find(person)).toEqual({ kind: 'user' });
  });

  // @conforms api.45
  it('is never the user when an agent connects and exits at once', async () => {
    const { server, port } = await serverAt('127.0.0.1');
    const found: Promise<SocketPeer>[] = [];
    server.on('connection', (socket) => {
      socket.on('error', () => {});
      found.push(find(connectionOf(socket)));
    });
    const script =
      'for i in $(seq 40); do (exec 3<>/dev/tcp/127.0.0.1/$0; echo hello >&3; sleep 0.00$((i % 10))) & wait; done';
    const [code] = await once(start(['bash', '-c', script, `${port}`], marks), 'close');
    expect(code).toBe(0);
    // The last of them may not have been accepted yet.
    await vi.waitFor(() => expect(found).toHaveLength(40), 10_000);
    const kinds = (await Promise.all(found)).map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind !== 'run' && kind !== 'unidentified')).toEqual([]);
    // The test must have seen agents that left early.
    expect(kinds).toContain('unidentified');
  });

  it('is never the user when an agent passes the connection on to ever new processes', async () => {
    const { server, port } = await serverAt('127.0.0.1');
    // Each process leaves the connection to a child and ends.
    const script =
      'exec 3<>/dev/tcp/127.0.0.1/$0; f() { [ $1 -gt 300 ] || { sleep 0.002; f $(($1 + 1)) & }; }; f 0; wait; sleep 5';
    start(['bash', '-c', script, `${port}`], marks);
    const connection = await nextConnection(server);
    for (let time = 0; time < 10; time++) expect(['run', 'unidentified']).toContain((await find(connection)).kind);
  });
});

const reuid = isRoot ? ['setpriv', `--reuid=${nobody}`, '--clear-groups'] : [];
const canBeNobody = !isRoot || works('setpriv', '--version');
/** The number of prctl(2); 4 is PR_SET_DUMPABLE. */
const prctl = { x64: 157, arm64: 167 }[process.arch as string];
const canHide = prctl !== undefined && works('perl', '-e', '1');
const unshare = ['unshare', '--user', '--map-root-user', '--pid', '--fork'];
const canUnshare = canBeNobody && works(...reuid, ...unshare, 'true');
const hiding = `use IO::Socket::INET; syscall(${prctl}, 4, 0, 0, 0, 0) == 0 or die; our $kept = IO::Socket::INET->new(PeerAddr => "127.0.0.1:$ARGV[0]") or die; sleep 60`;

function works(...[command = '', ...args]: readonly string[]): boolean {
  return spawnSync(command, args).status === 0;
}

interface PeerReporter {
  readonly port: number;
  /** The next line of its output. */
  next(): Promise<string>;
}

async function startReporter(
  wrapper: readonly string[],
  env: Record<string, string>,
  ...program: string[]
): Promise<PeerReporter> {
  const file = path.join(import.meta.dirname, '..', 'fixtures', 'report-peers.mjs');
  const child = start([...wrapper, process.execPath, file, ...program], env);
  const lines = createInterface({ input: child.stdout ?? process.stdin })[Symbol.asyncIterator]();
  const next = async (): Promise<string> => String((await lines.next()).value);
  return { port: Number(await next()), next };
}

/** A daemon that is not root. */
function reporterOfNobody(...program: string[]): Promise<PeerReporter> {
  return startReporter(reuid, {}, ...program);
}

it.runIf(linux)('a daemon started by an agent of another Baton treats that agent as its user', async () => {
  const { port, next } = await startReporter([], foreignMarks);
  connect({ port, host: '127.0.0.1' }, { env: foreignMarks });
  expect(await next()).toBe('user');
  connect({ port, host: '127.0.0.1' }, { env: { ...foreignMarks, BATON_DAEMON_ID: 'a-third-daemon' } });
  expect(await next()).toBe('run');
  // A daemon that was restarted by one of its own agents still recognizes its agents.
  const again = await startReporter([], marks);
  connect({ port: again.port, host: '127.0.0.1' }, { env: marks });
  expect(await again.next()).toBe('run');
});

describe.runIf(linux && canBeNobody)('a daemon that is not root', () => {
  it('identifies a program of its own user as the user, and an agent as a run', async () => {
    const { port, next } = await reporterOfNobody();
    connect({ port, host: '127.0.0.1' }, { wrapper: reuid });
    expect(await next()).toBe('user');
    connect({ port, host: '127.0.0.1' }, { wrapper: reuid, env: marks });
    expect(await next()).toBe('run');
  });

  it.runIf(canUnshare)('identifies an agent in its own namespaces as a run', async () => {
    const { port, next } = await reporterOfNobody();
    const script = 'exec 3<>/dev/tcp/127.0.0.1/$0; exec sleep 60';
    start([...reuid, ...unshare, 'env', '-i', 'bash', '-c', script, `${port}`], marks);
    expect(await next()).toBe('run');
  });

  // @conforms api.47
  it.runIf(isRoot)('identifies root as "other"', async () => {
    const { port, next } = await reporterOfNobody();
    connect({ port, host: '127.0.0.1' });
    expect(await next()).toBe('other');
  });

  it.runIf(canHide)('identifies a program that hides as "other"', async () => {
    const { port, next } = await reporterOfNobody();
    start([...reuid, 'perl', '-e', hiding, `${port}`], {});
    expect(await next()).toBe('other');
  });

  // @conforms api.46
  it.runIf(canHide)('does not identify an agent that hides', async () => {
    const { port, next } = await reporterOfNobody();
    start([...reuid, 'sh', '-c', 'perl -e "$0" "$1" & wait', hiding, `${port}`], marks);
    expect(await next()).toBe('unidentified');
  });

  it.runIf(canHide)('does not identify a child of its own that hides, although no marker can be read', async () => {
    const { next } = await reporterOfNobody('perl', '-e', hiding);
    expect(await next()).toBe('unidentified');
  });
});

it.runIf(linux && isRoot && canBeNobody)('identifies another user of the machine as "other"', async () => {
  const connection = await connectedBy('127.0.0.1', { wrapper: ['setpriv', `--reuid=${nobody}`, '--clear-groups'] });
  expect(await find(connection)).toEqual({ kind: 'other' });
});

it.runIf(linux && isRoot && canBeNobody)('identifies an agent that changed its user as a run', async () => {
  const wrapper = ['setpriv', `--reuid=${nobody}`, '--clear-groups'];
  expect(await find(await connectedBy('127.0.0.1', { wrapper, env: marks }))).toEqual({ kind: 'run', runId: 'run-7' });
});
