// @module-tag full
import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { expect, it } from 'vitest';
import { systemChance } from '../../src/clock/system-chance.ts';
import { systemClock } from '../../src/clock/system-clock.ts';
import { childEnvironment, usualVariables } from '../../src/process/child-environment.ts';
import { runToEnd } from '../../src/process/run-to-end.ts';
import { hasNamespaces } from './machine.ts';

/** A service of the login session starts programs outside of every containment, and they outlive the run. */
const session = {
  XDG_RUNTIME_DIR: '/run/user/1000',
  XDG_SESSION_ID: '3',
  XDG_VTNR: '2',
  DBUS_SESSION_BUS_ADDRESS: 'unix:path=/run/user/1000/bus',
  DBUS_SYSTEM_BUS_ADDRESS: 'unix:path=/run/dbus/system_bus_socket',
  SSH_AUTH_SOCK: '/run/user/1000/keyring/ssh',
  SSH_AGENT_PID: '7',
  GPG_AGENT_INFO: '/run/user/1000/gnupg/S.gpg-agent',
  GNOME_KEYRING_CONTROL: '/run/user/1000/keyring',
  DISPLAY: ':0',
  WAYLAND_DISPLAY: 'wayland-0',
  XAUTHORITY: '/run/user/1000/gdm/Xauthority',
  TMUX: '/tmp/tmux-1000/default,1,0',
  STY: '1.pts-0',
  VSCODE_IPC_HOOK_CLI: '/run/user/1000/vscode.sock',
  DOCKER_HOST: 'unix:///run/user/1000/docker.sock',
  NOTIFY_SOCKET: '/run/systemd/notify',
  LISTEN_FDS: '1',
  INVOCATION_ID: '7',
  CREDENTIALS_DIRECTORY: '/run/credentials/baton.service',
};

it('no variable that leads to a service of the login session reaches a child', () => {
  expect(childEnvironment({ from: session, allow: usualVariables, deny: [] })).toEqual({});
});

it('the folders of the user still reach a child', () => {
  const from = {
    XDG_CONFIG_HOME: '/c',
    XDG_CACHE_HOME: '/k',
    XDG_DATA_HOME: '/d',
    XDG_STATE_HOME: '/s',
    XDG_DATA_DIRS: '/e',
  };
  expect(childEnvironment({ from, allow: usualVariables, deny: [] })).toEqual(from);
});

it('without isolation, a pid namespace does not end what a terminal server outside of it starts, as SECURITY.md says', async ({
  skip,
}) => {
  skip(!hasNamespaces || spawnSync('tmux', ['-V']).status !== 0, 'there is no tmux or no namespace here');
  const socket = `baton-session-${process.pid}`;
  const tmux = (...args: string[]) => spawnSync('tmux', ['-L', socket, ...args], { encoding: 'utf8' });
  try {
    expect(tmux('new-session', '-d', 'sleep 300').stderr).toBe('');
    const { code, survivorsEnded } = await runToEnd(
      {
        ...{ command: '/bin/sh', args: ['-c', `tmux -L ${socket} new-session -d 'sleep 300'`], cwd: tmpdir() },
        env: childEnvironment({ from: process.env, allow: usualVariables, deny: [] }),
        runId: systemChance.id(),
        timeoutMs: 60_000,
      },
      { clock: systemClock, containment: 'user_pid_namespace', daemonId: systemChance.id() },
    );
    expect({ code, survivorsEnded }).toEqual({ code: 0, survivorsEnded: 0 });
    expect(tmux('list-sessions').stdout.trim().split('\n')).toHaveLength(2);
  } finally {
    tmux('kill-server');
  }
});
