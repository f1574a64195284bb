/**
 * How Baton contains the processes that a child starts; `probeContainment` finds out which way the machine allows.
 *
 * - `pid_namespace`: each child has its own pid namespace. No process in it outlives the child or the daemon, however
 *   the daemon ends. Needs root.
 * - `user_pid_namespace`: the same inside a user namespace that maps only the current user. Needs no root.
 * - `marker_sweep`: a process group, then a sweep for everything that carries the run's marker.
 * - `group_only`: there is no /proc to sweep; a process that leaves the process group is not found.
 */
export type Containment = 'pid_namespace' | 'user_pid_namespace' | 'marker_sweep' | 'group_only';

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

const wrapping: Record<Containment, readonly string[]> = {
  pid_namespace: [...endsWithDaemon, 'unshare', ...newPidNamespace, '--', '/bin/sh', '-c', initScript],
  user_pid_namespace: [
    ...endsWithDaemon,
    'unshare',
    '--user',
    '--map-current-user',
    ...newPidNamespace,
    '--',
    '/bin/sh',
    '-c',
    initScript,
  ],
  marker_sweep: [],
  group_only: [],
};

/** The command line that runs `program` (an absolute path) with this containment. */
export function containedCommand(
  containment: Containment,
  program: string,
  args: readonly string[],
): { readonly file: string; readonly args: readonly string[] } {
  const [file = program, ...rest] = [...wrapping[containment], program, ...args];
  return { file, args: rest };
}
