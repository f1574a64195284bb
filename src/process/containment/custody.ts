/**
 * How Baton contains the processes that a child starts; `probeCustody` finds out which way the machine allows.
 *
 * - `pid_namespace`: each child lives in a pid namespace of its own, and nothing in it outlives it, nor the daemon that
 *   started it, however that ends. Needs root.
 * - `user_pid_namespace`: the same inside a user namespace that maps only the current user, for everyone else.
 * - `marker_sweep`: a process group, then a sweep for everything that carries the run's marker.
 * - `group_only`: there is no /proc to sweep; a process that leaves the process group is not found.
 */
export type Custody = 'pid_namespace' | 'user_pid_namespace' | 'marker_sweep' | 'group_only';

/**
 * The shell that is pid 1 of a namespace: runs the program as its child and passes on its exit code. The program must
 * not be pid 1 itself, for the kernel keeps TERM from a pid 1 without a handler; the `exit` keeps the shell from
 * replacing itself with it. What the shell itself remarks ("Terminated") does not belong into the error output.
 * Program and arguments arrive as positional parameters, so nothing here is built from data.
 */
const initScript = 'exec 3>&2 2>/dev/null; (exec "$0" "$@" 2>&3 3>&-); exit $?';

/**
 * The kernel ends the namespace's keeper, and with it everything inside, when the daemon dies: no one else on its
 * machine could, and another daemon may have the issue by then.
 */
const endsWithUs = ['setpriv', '--pdeathsig', 'KILL', '--'];

/** `--mount-proc` also makes a mount namespace whose mounts are private: the new /proc is seen inside only. */
const newPidNamespace = ['--pid', '--fork', '--kill-child=KILL', '--mount-proc'];

const wrapping: Record<Custody, readonly string[]> = {
  pid_namespace: [...endsWithUs, 'unshare', ...newPidNamespace, '--', '/bin/sh', '-c', initScript],
  user_pid_namespace: [
    ...endsWithUs,
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
export function commandUnderCustody(
  custody: Custody,
  program: string,
  args: readonly string[],
): { readonly file: string; readonly args: readonly string[] } {
  const [file = program, ...rest] = [...wrapping[custody], program, ...args];
  return { file, args: rest };
}
