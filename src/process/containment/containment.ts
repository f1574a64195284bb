import type { MountScript } from '../isolation/mount-script.ts';

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
 * The script that makes the mounts of an isolated child, and then runs the command after `--`. The working directory is
 * entered again: the old one lies in a covered folder, from where `..` would lead to everything that is covered. Tables
 * arrive as open files, all other data as positional parameters.
 */
const mountsScript = `
failed() { echo "baton: failed to isolate the program (agent.isolation): $1" >&2; exit 125; }
mount=$1 mkdir=$2 place=$3 folders=$4
shift 4
"$mount" --no-canonicalize --all --fstab /proc/self/fd/3 || failed covering
[ -z "$folders" ] || "$mkdir" -p -- $folders || failed folders
while [ "$1" != -- ]; do printf %s "$2" >"$1" || failed files; shift 2; done
shift
"$mount" --no-canonicalize --all --fstab /proc/self/fd/4 || failed showing
cd -P -- "$place" || failed workspace
exec "$@" 3<&- 4<&-
`;

export interface ContainedProgram {
  readonly containment: Containment;
  /** An absolute path. */
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly user: { readonly id: number; readonly groupId: number };
  /** What the child sees of the machine's files; null: what the user sees. Needs `user_pid_namespace`. */
  readonly mounts: MountScript | null;
  /** The absolute path of each of `wrappers`. */
  readonly find: (name: (typeof wrappers)[number]) => string;
}

/** The programs that make namespaces and mounts. */
export const wrappers = ['setpriv', 'unshare', 'mount', 'mkdir'] as const;

/** The command line that runs a program with its containment. */
export function containedCommand(wanted: ContainedProgram): {
  readonly file: string;
  readonly args: readonly string[];
} {
  const { program, args, containment } = wanted;
  const wrapping = containment === 'user_pid_namespace' ? namespaces(wanted) : [];
  const [file = program, ...rest] = [...wrapping, program, ...args];
  return { file, args: rest };
}

function namespaces({ cwd, user, mounts, find }: ContainedProgram): readonly string[] {
  const [setpriv, unshare] = [find('setpriv'), find('unshare')];
  const init = ['/bin/sh', '-c', initScript];
  /**
   * A user keeps all capabilities in a user namespace that maps it to root: for mounts, and also to unmount them and see
   * what they cover. In a second user namespace it has no capability over the mounts of the first.
   */
  const withoutMounts = [unshare, '--user', `--map-user=${user.id}`, `--map-group=${user.groupId}`, '--'];
  // When the daemon dies, the kernel kills `unshare` and with it everything in the namespace. Nothing else on this
  // machine could, and a daemon on another machine may have the issue by then.
  const outside = [setpriv, '--pdeathsig', 'KILL', '--', unshare];
  // `--mount-proc` also makes a mount namespace with private mounts: the new /proc is visible only inside.
  const inside = ['--pid', '--fork', '--kill-child=KILL', '--mount-proc'];
  if (mounts === null) {
    const second = user.id === 0 ? withoutMounts : [];
    return [...outside, '--user', '--map-current-user', ...inside, '--', ...second, ...init];
  }
  const { folders, files } = mounts;
  const data = [
    find('mount'),
    find('mkdir'),
    cwd,
    folders.join(' '),
    ...files.flatMap(({ path, text }) => [path, text]),
  ];
  return [
    ...[...outside, '--user', '--map-root-user', '--ipc', ...inside, '--'],
    ...['/bin/sh', '-c', mountsScript, 'sh', ...data, '--'],
    ...withoutMounts,
    ...init,
  ];
}
