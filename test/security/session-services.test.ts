import { expect, it } from 'vitest';
import { childEnvironment, usualVariables } from '../../src/process/child-environment.ts';

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
