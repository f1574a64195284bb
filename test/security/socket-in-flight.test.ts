import { spawn, spawnSync } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it, onTestFinished } from 'vitest';

/**
 * An agent puts its connection where no list of descriptors shows it, so that it passes for a program that Baton cannot
 * inspect, whose token is believed.
 */
const attacks = {
  'in flight through a unix socket': `
a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
c = socket.create_connection(('127.0.0.1', port))
socket.send_fds(a, [b'x'], [c.fileno()])
c.close()
time.sleep(60)`,
  'in flight through a unix socket that is itself in flight': `
a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
d, e = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
c = socket.create_connection(('127.0.0.1', port))
socket.send_fds(a, [b'x'], [c.fileno()])
socket.send_fds(d, [b'x'], [b.fileno()])
c.close(); b.close()
time.sleep(60)`,
  'with a thread that has its own descriptors': `
def hold():
    ctypes.CDLL(None).unshare(0x400)
    c = socket.create_connection(('127.0.0.1', port))
    time.sleep(60)
threading.Thread(target=hold).start()`,
};

const isRoot = process.getuid?.() === 0;
/** A daemon of root sees every process, so the one that cannot inspect some runs as another user. */
const asOther = isRoot ? ['setpriv', '--reuid=65534', '--clear-groups'] : [];
const python = ['python3', '-c'] as const;
/** A python of the machine, which every user can start. */
const systemPath = `/usr/bin:/bin:${process.env.PATH}`;
const imports = 'import ctypes, socket, sys, threading, time\nport = int(sys.argv[1])\n';
const marks = { BATON_DAEMON_ID: 'daemon-of-this-test', BATON_RUN_ID: 'run-7' };
const [probe = '', ...probeWords] = [...asOther, ...python, 'import socket; socket.send_fds'];
const canTry = process.platform === 'linux' && spawnSync(probe, probeWords, { env: { PATH: systemPath } }).status === 0;

function start(words: readonly string[], env: Record<string, string> = {}) {
  const [command = '', ...args] = words;
  const child = spawn(command, args, {
    env: { PATH: systemPath, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
    cwd: '/',
  });
  onTestFinished(() => {
    try {
      process.kill(-(child.pid ?? 0), 'SIGKILL');
    } catch {
      // It has ended.
    }
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return { next: async (): Promise<string> => String((await lines.next()).value) };
}

async function startReporter(wrapper: readonly string[]) {
  const file = path.join(import.meta.dirname, '..', 'process', 'fixtures', 'report-peers.mjs');
  const reporter = start([...wrapper, process.execPath, file]);
  return { ...reporter, port: await reporter.next() };
}

/** 4 is PR_SET_DUMPABLE: no other process of the user can inspect this one. */
const hiding = `ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)
c = socket.create_connection(('127.0.0.1', port)) if len(sys.argv) > 2 else None
print('hidden', flush=True)
time.sleep(60)`;

describe.runIf(canTry)('the connection of an agent', () => {
  for (const [name, attack] of Object.entries(attacks)) {
    it(`${name} is never a person's`, async () => {
      for (const wrapper of isRoot ? [[], asOther] : [[]]) {
        const { port, next } = await startReporter(wrapper);
        start([...wrapper, ...python, imports + attack, port], marks);
        expect(await next()).not.toMatch(/user|other/);
      }
    });

    it(`${name} is never a person's where another program hides, such as sshd`, async () => {
      const { port, next } = await startReporter(asOther);
      expect(await start([...asOther, ...python, imports + hiding, port]).next()).toBe('hidden');
      start([...asOther, ...python, imports + attack, port], marks);
      expect(await next()).not.toMatch(/user|other/);
    });
  }

  it('does not make the program of a person unknown that hides next to it', async () => {
    const { port, next } = await startReporter(asOther);
    start([...asOther, 'sleep', '60'], marks);
    start([...asOther, ...python, imports + hiding, port, 'connect']);
    expect(await next()).toBe('other');
  });
});
