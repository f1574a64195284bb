// @module-tag full
// @module-tag one-way
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { canary, IsolationScene, type Who, whoHere } from './isolation-scene.ts';
import { describeIsolated } from './machine.ts';

/** Runs a command in namespaces of its own, in which it is root: from there it may mount whatever it sees. */
const asNamespaceRoot = (script: string): string =>
  `unshare --user --map-root-user --mount --pid --fork sh -c '${script}' sh "$1"`;

const secrets =
  'cat "$1"/state/* "$1"/home/.ssh/* "$1"/home/.aws/* "$1"/home/.netrc "$1"/home/letters/* "$1"/home/.config/gh/* ' +
  '"$1"/home/.bash_history "$1"/home/.cargo/credentials.toml "$1"/workspaces/other/*';

/** What an agent may try to read a secret. Each is a shell script that prints what it gets. */
const reads: Readonly<Record<string, string>> = {
  'reads the secrets by their paths': secrets,
  'leaves its working directory upwards': 'cat ../other/* ../../state/*; cd -P .. && cat */file; cd ..; cat state/*',
  'uses the working directories and roots of processes':
    'for each in /proc/self /proc/1 /proc/[0-9]*; do cat $each/cwd/../other/* $each/cwd/../../state/* "$each/root$1"/state/*; done',
  'uses inherited descriptors':
    'for each in /proc/self/fd/* /proc/1/fd/*; do cat $each/../other/* $each/state/* "$each$1"/state/*; done',
  'follows links that it makes':
    'ln -s "$1/state" state; ln -s "$1/home" home; cat state/* home/.ssh/*; cat home/letters/*',
  'removes the mounts': `umount -l "$1/home" "$1/state" /tmp /var/tmp /dev/shm /; umount -R "$1/home"; ${secrets}`,
  'removes the mounts as root of a namespace': asNamespaceRoot(
    `umount -l "$1/home"; umount -l "$1/state"; umount -l /tmp; umount -l /var/tmp; umount -l /dev/shm; umount -l /dev/pts; ${secrets}; find /dev/pts -type f | xargs cat`,
  ),
  'copies the tree and removes the mounts of the copy': asNamespaceRoot(
    'mkdir /tmp/copy; mount --rbind / /tmp/copy; umount -l "/tmp/copy$1/home"; umount -l /tmp/copy/tmp; cat /tmp/copy$1/state/* /tmp/copy$1/home/.ssh/*; mkdir /tmp/one; mount --bind / /tmp/one; cat /tmp/one$1/state/*',
  ),
  'moves the mounts away': asNamespaceRoot(
    `mkdir /tmp/away; mount --move "$1/home" /tmp/away; mount --move /tmp /mnt; ${secrets}`,
  ),
  'changes its root': asNamespaceRoot(
    'mkdir /tmp/root; mount --rbind / /tmp/root; cd /tmp/root; mkdir /tmp/root/tmp/old; pivot_root . tmp/old; umount -l /tmp/old; cat "$1"/state/*; cat "$1"/home/.ssh/*',
  ),
  'enters the namespaces of its first process': `nsenter --target 1 --user --mount --pid sh -c '${secrets}' sh "$1"; nsenter --target 1 --mount sh -c '${secrets}' sh "$1"`,
  'reads the environments of processes': 'cat /proc/[0-9]*/environ; cat /proc/[0-9]*/task/*/environ',
  'mounts another /proc': asNamespaceRoot(
    'mount -t proc proc /proc; cat /proc/[0-9]*/environ; umount -l /proc; umount -l /proc; cat /proc/[0-9]*/environ',
  ),
  'reads the disk':
    'cat /dev/[shnv][dvr][a-z]* | head -c 100000000 | grep -a canary; find /dev -type b -exec head -c 1 {} ";"',
  'makes a device for the disk': `mknod disk b 254 0 && cat disk; ${asNamespaceRoot('mknod /tmp/disk b 254 0 && head -c 1 /tmp/disk')}`,
  'opens files by their number':
    'perl -e \'$h = pack("LlLL", 8, 1, 2, 0); open(F, "<", "/usr/bin/env"); $n = `uname -m` =~ /aarch64/ ? 265 : 304; $fd = syscall($n, fileno(F), $h, 0); if ($fd >= 0) { chdir("/proc/self/fd/$fd"); exec("cat", glob(".$ARGV[0]/state/*")) }\' "$1"',
  'reads the passwords of the system': 'test ! -s /etc/shadow || ! cat /etc/shadow || echo canary',
};

/** What an agent may try to change outside of its workspace. */
const writes: Readonly<Record<string, string>> = {
  'writes the files by their paths':
    'for each in repo/.git/config WORKFLOW.md home/.profile home/.npm/cached state/git/caches/object; do echo changed > "$1/$each"; done',
  'lets git write the configuration of the repository':
    'git -C "$1/repo" config core.sshCommand evil; git config --file "$1/repo/.git/config" a.b c',
  'replaces the files':
    'echo changed > new; mv -f new "$1/repo/.git/config"; cp -f new "$1/WORKFLOW.md"; rm -f "$1/WORKFLOW.md"; mv "$1/repo" "$1/gone"; rm -rf "$1/home/.npm" "$1/repo"',
  'links the files into its workspace':
    'ln "$1/repo/.git/config" here && echo changed > here; ln "$1/WORKFLOW.md" there && echo changed > there',
  'changes their mode and owner':
    'chmod 777 "$1/repo/.git/config" "$1/repo"; chown 1:1 "$1/WORKFLOW.md"; touch "$1/repo/new" "$1/workspaces/other/new" "$1/state/new"',
  'mounts them for writing':
    'mount -o remount,rw,bind "$1/repo"; mount -o remount,rw /; echo changed > "$1/repo/.git/config"',
  'mounts them for writing as root of a namespace': asNamespaceRoot(
    'mount -o remount,rw,bind /; mount -o remount,rw,bind "$1/repo"; mount --bind "$1/repo" "$1/repo"; mount -o remount,rw,bind "$1/repo"; echo changed > "$1/repo/.git/config"; echo changed > "$1/WORKFLOW.md"',
  ),
  'writes through the descriptors of processes':
    'for each in /proc/[0-9]*; do echo changed > "$each/root$1/repo/.git/config"; echo changed > "$each/cwd/../../WORKFLOW.md"; done',
  'writes to the settings of the kernel':
    'for each in kernel/core_pattern vm/swappiness; do cat /proc/sys/$each > same; cat same > /proc/sys/$each && echo written; done',
  'writes to the settings of the kernel in another /proc': asNamespaceRoot(
    'mount -t proc proc /proc; cat /proc/sys/vm/swappiness > same; cat same > /proc/sys/vm/swappiness && echo written',
  ),
  'writes to the system':
    'touch /x /usr/x /etc/x /var/x /opt/x /sys/x /boot/x && echo written; echo 1 > /sys/fs/cgroup/cgroup.procs && echo written; echo 1 > /sys/fs/cgroup/pids/cgroup.procs && echo written',
};

for (const who of whoHere) describeIsolated(`an isolated agent of ${who}`, {}, () => attacksBy(who));

function attacksBy(who: Who): void {
  let scene: IsolationScene;
  const originals = ['repo/.git/config', 'WORKFLOW.md', 'home/.profile', 'home/.npm/cached', 'state/git/caches/object'];
  beforeAll(() => {
    scene = new IsolationScene(who);
  });
  afterAll(() => scene[Symbol.dispose]());

  it('works: it reads, writes and commits where it may', () => {
    const script = `set -e
      cat "$1/repo/.git/config" "$1/WORKFLOW.md" "$1/home/.npm/cached" "$1/home/.cargo/config.toml" "$1/state/git/caches/object" ~/.profile
      echo 1 > file; echo 1 > "$1/state/git/own/file"; echo 1 > /tmp/file; echo 1 > ~/file; echo 1 > ~/.npm/file; echo 1 > /dev/shm/file
      git init -q . && git add file && git -c user.email=a@b commit -qm first && git log --format=%an
      bash -c 'cat <(echo substituted)'; head -c 4 /dev/urandom | wc -c; getent hosts localhost > /dev/null
      unshare --user --map-root-user --mount true && echo nested`;
    const { code, stdout, stderr } = scene.isolated(script);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toBe(`${'original'.repeat(6)}Isolated\nsubstituted\n4\nnested\n`);
    expect(readFileSync(scene.at('workspaces/own/file'), 'utf8')).toBe('1\n');
    expect(readFileSync(scene.at('state/git/own/file'), 'utf8')).toBe('1\n');
    expect(existsSync(scene.at('home/.npm/file'))).toBe(false);
    expect(readdirSync(scene.at('home'))).not.toContain('file');
  });

  it('can be shown the secrets by name, so that the attacks below can fail', () => {
    const read = ['state/tokens.json', 'home/.ssh', 'workspaces/other'].map((each) => scene.at(each));
    expect(scene.isolated(secrets, { read }).stdout).toContain(canary);
  });

  it('keeps known places of secrets hidden in a folder that is shown', () => {
    const { stdout } = scene.isolated(`cat "$1"/home/letters/*; echo; ${secrets.replace('"$1"/home/letters/*', '')}`, {
      read: [scene.at('home')],
    });
    expect(stdout).toBe(`${canary}\n`);
  });

  it.each(Object.entries(reads))('finds no secret when it %s', async (_, script) => {
    const env = { SECRET: canary, PATH: process.env.PATH ?? '' };
    const [file = '', ...args] = [...scene.asUser, 'sleep', '300'];
    const daemon = spawn(file, args, { env });
    try {
      const { stdout, stderr, code } = scene.isolated(`${script}\nexit 7`);
      expect(code).toBe(7);
      expect(stdout).not.toContain(canary);
      expect(stderr).not.toContain(canary);
    } finally {
      const ended = once(daemon, 'exit');
      daemon.kill('SIGKILL');
      await ended;
    }
  });

  it.each(Object.entries(writes))('changes nothing outside when it %s', (_, script) => {
    const mounts = readFileSync('/proc/self/mountinfo', 'utf8');
    const { stdout, code } = scene.isolated(`${script}\nexit 7`);
    expect(code).toBe(7);
    expect(stdout).not.toContain('written');
    expect(originals.map((each) => readFileSync(scene.at(each), 'utf8'))).toEqual(originals.map(() => 'original'));
    expect(readdirSync(scene.at('workspaces/other'))).toEqual(['file']);
    expect(readdirSync(scene.at('repo'))).toEqual(['.git']);
    expect(readFileSync('/proc/self/mountinfo', 'utf8')).toBe(mounts);
  });

  it('neither sees nor signals a process outside', async () => {
    const [file = '', ...args] = [...scene.asUser, 'sleep', '300.271828'];
    const daemon = spawn(file, args, { env: { PATH: process.env.PATH ?? '' } });
    const show = 'cat /proc/[0-9]*/cmdline';
    try {
      expect(scene.outside(['sh', '-c', show]).stdout).toContain('300.271828');
      const { stdout } = scene.isolated(`${show}; kill -9 ${daemon.pid}; kill -9 -1`);
      expect(stdout).toContain('/proc/[0-9]*/cmdline');
      expect(stdout).not.toContain('300.271828');
      expect(daemon.exitCode ?? daemon.signalCode).toBe(null);
    } finally {
      const ended = once(daemon, 'exit');
      daemon.kill('SIGKILL');
      await ended;
    }
  });

  it.each([
    ['the state folder', (place: IsolationScene) => place.at('state/baton.sock')],
    ['the home, as of a gpg agent', (place: IsolationScene) => place.at('home/letters/S.agent')],
    ['the folder for temporary files, as of an ssh agent', () => `/tmp/baton-agent-${process.pid}`],
    ['the folder of login sessions, as of a session bus', () => `/run/baton-bus-${process.pid}`],
  ])('reaches no socket of another program by its path: in %s', async (_, placeOf) => {
    const socket = placeOf(scene);
    // Only root can make one there.
    if (socket.startsWith('/run/') && process.geteuid?.() !== 0) return;
    const server = createServer();
    server.listen(socket);
    await once(server, 'listening');
    chmodSync(socket, 0o777);
    try {
      const connect =
        'use IO::Socket::UNIX; IO::Socket::UNIX->new(Peer => shift) or die "no socket\\n"; print "reached\\n"';
      expect(scene.outside(['perl', '-e', connect, socket]).stdout).toBe('reached\n');
      expect(scene.isolated(`perl -e '${connect}' "${socket}"`)).toMatchObject({
        stdout: '',
        stderr: expect.stringContaining('no socket'),
      });
    } finally {
      server.close();
    }
  });

  it('starts nothing in a terminal server of its user', ({ skip }) => {
    skip(scene.outside(['tmux', '-V']).status !== 0, 'there is no tmux here');
    const name = `baton-${process.pid}`;
    try {
      expect(scene.outside(['tmux', '-L', name, 'new-session', '-d', 'sleep 300']).stderr).toBe('');
      scene.isolated(
        `tmux -L ${name} new-session -d "cat '$1/state/tokens.json' > '$1/workspaces/own/stolen'; sleep 1"`,
      );
      // Inside it may start a server of its own, which sees what the agent sees.
      const stolen = scene.at('workspaces/own/stolen');
      expect(existsSync(stolen) ? readFileSync(stolen, 'utf8') : '').toBe('');
      expect(scene.outside(['tmux', '-L', name, 'list-sessions']).stdout.trim().split('\n')).toHaveLength(1);
    } finally {
      scene.outside(['tmux', '-L', name, 'kill-server']);
    }
  });

  it('leaves no process behind', () => {
    const { survivorsEnded } = scene.isolated(
      'setsid sleep 300 & (setsid sh -c "trap : TERM HUP; sleep 300" &) ; sleep 0.2',
    );
    expect(survivorsEnded).toBe(0);
  });

  it('gets the setting that shows a hidden path', () => {
    const { stderr } = scene.isolated('cat "$1/home/letters/private"');
    expect(stderr).toContain(scene.at('home/letters/private'));
    expect(stderr).toContain('agent.isolation_read');
    expect(scene.isolated('touch "$1/repo/new"').stderr).toContain('agent.isolation_write');
  });

  it.skipIf(who !== 'root')('finds no hidden folder under another name that the machine has for it', () => {
    scene.write('alias/empty', '');
    const outer = 'mount --bind "$0/home" "$0/alias" && exec "$@"';
    const wrapper = ['unshare', '--mount', 'sh', '-c', outer, scene.base];
    expect(scene.isolated('cat "$1"/alias/.ssh/* "$1"/alias/letters/*; exit 7', { wrapper })).toMatchObject({
      code: 7,
      stdout: '',
    });
  });
}
