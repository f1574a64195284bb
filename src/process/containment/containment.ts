/**
 * How Baton contains the processes that a child starts; `probeContainment` finds out which way the machine allows.
 *
 * - `user_pid_namespace`: each child has its own pid namespace, inside a user namespace that maps only the current user.
 *   No process in it outlives the child or the daemon, however the daemon ends.
 * - `marker_sweep`: a process group, then a sweep for everything that carries the run's marker.
 * - `group_only`: there is no /proc to sweep; a process that leaves the process group is not found.
 */
export type Containment = 'user_pid_namespace' | 'marker_sweep' | 'group_only';

/**
 * The script of the shell that is pid 1 of a namespace: runs the program as a child and passes on its exit code. The
 * program must not be pid 1 itself, because the kernel does not deliver TERM to a pid 1 without a handler; the `exit`
 * keeps the shell from replacing itself with the program. Messages of the shell ("Terminated") are kept out of the
 * error output. Program and arguments arrive as positional parameters, so no data becomes part of the script.
 */
const initScript = 'exec 3>&2 2>/dev/null; (exec "$0" "$@" 2>&3 3>&-); exit $?';

/**
 * When the daemon dies, the kernel kills `unshare` and with it everything in the namespace. Nothing else on this
 * machine could, and a daemon on another machine may have the issue by then.
 */
const endsWithDaemon = ['setpriv', '--pdeathsig', 'KILL', '--'];

/** `--mount-proc` also makes a mount namespace with private mounts: the new /proc is visible only inside. */
const newPidNamespace = ['--pid', '--fork', '--kill-child=KILL', '--mount-proc'];

const newUserNamespace = ['--user', '--map-current-user'];

/**
 * Root keeps all capabilities in a user namespace that maps it, also the one to unmount the new /proc and see the
 * processes of the machine. In a second user namespace it has no capability over the mounts of the first.
 */
const withoutMounts = ['unshare', ...newUserNamespace, '--'];

/** The command line that runs `program` (an absolute path) with this containment, for the user with this id. */
export function containedCommand(
  containment: Containment,
  userId: number | undefined,
  program: string,
  args: readonly string[],
): { readonly file: string; readonly args: readonly string[] } {
  const wrapping =
    containment === 'user_pid_namespace'
      ? [
          ...[...endsWithDaemon, 'unshare', ...newUserNamespace, ...newPidNamespace, '--'],
          ...(userId === 0 ? withoutMounts : []),
          ...['/bin/sh', '-c', initScript],
        ]
      : [];
  const [file = program, ...rest] = [...wrapping, program, ...args];
  return { file, args: rest };
}
