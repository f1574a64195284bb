import { BatonError } from '../../core/baton-error.ts';
import { harmlessLine } from '../../core/text/harmless-line.ts';
import { childEnvironment } from '../../process/child-environment.ts';
import { type RunResult, runToEnd } from '../../process/run-to-end.ts';
import type { ProcessDeps } from '../../process/start-child.ts';
import { lstatOrNull } from '../file-system.ts';
import { limitConcurrency } from '../limit-concurrency.ts';

/**
 * The only way the daemon calls git. An agent may have written the git directory of its workspace, and git runs
 * programs that such a directory names: hooks, fsmonitor, filters, diff drivers, credential helpers, transports,
 * promisor remotes. No list of switches to disable them is complete, so Baton follows these rules:
 *
 * - `gitDir` is always a directory that only Baton writes (a cache, a shadow git directory, the salvage), or the
 *   person's own repository. Everything that an agent could write is read as data: its objects are borrowed, its
 *   files are the work tree, its references are parsed (`read-git-directory.ts`, which says why). It is never the git
 *   directory of a call.
 * - The git configuration of the machine and of the person is read only by calls that go to the network, for credentials.
 * - Hooks, fsmonitor, prompts, maintenance, recursion into submodules and risky transports are switched off anyway.
 */
export interface Git {
  /**
   * Rejects with `git_failed`, `git_timeout` or `git_missing`, and with `process_spawn_failed` when its working
   * directory is gone. Resolves to the output of git, one character per byte.
   */
  run(call: GitCall): Promise<string>;
  /** The same for calls that may fail: resolves to the exit code and the output. */
  ask(call: GitCall): Promise<GitAnswer>;
}

export interface GitCall {
  /** Without `git` and its own options. */
  readonly args: readonly string[];
  /** Absolute. Null only for calls that need no repository. */
  readonly gitDir: string | null;
  /** Absolute. Without it the call has no work tree. */
  readonly workTree?: string;
  readonly indexFile?: string;
  /** Where new objects go, instead of the git directory. */
  readonly objects?: string;
  /** Further object directories to read from. */
  readonly borrowed?: readonly string[];
  /** Whether it reads files of an agent in another way, such as through a repository that borrows from the agent's. */
  readonly readsAgents?: boolean;
  /** One call's own settings, as `name=value`. */
  readonly settings?: readonly string[];
  /** The same for values that must not appear in the list of processes. */
  readonly secretSettings?: readonly (readonly [name: string, value: string])[];
  /**
   * Whether it may use the network; then it gets the person's git configuration and their ssh agent. `own`: over HTTP
   * only, without that configuration, which could send a credential of Baton's to another host.
   */
  readonly network?: boolean | 'own';
  /** As bytes when it contains names that may not be valid UTF-8. */
  readonly stdin?: string | Uint8Array | undefined;
  readonly timeoutMs?: number | undefined;
  readonly maxOutputBytes?: number;
  readonly signal?: AbortSignal | undefined;
}

export interface GitAnswer {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface GitParts extends ProcessDeps {
  readonly daemonEnv: Readonly<Record<string, string | undefined>>;
}

/** A quiet fetch of exactly the requested commits. */
export const quietFetch: readonly string[] = [
  ...['fetch', '--quiet', '--no-tags', '--no-prune', '--no-write-fetch-head', '--no-auto-maintenance', '--refmap='],
  '--no-recurse-submodules',
];

/**
 * How many calls run at once; git itself uses several threads, and a disk has one head. Calls that read what an agent
 * may have written have turns of their own: an agent can make git wait, and then only others like it wait with it.
 */
const mostAtOnce = 4;

const usualTimeoutMs = 120_000;
const networkTimeoutMs = 900_000;
const usualOutputBytes = 64 * 1024 * 1024;
const longestRemark = 2_000;

/** In every call, above every file. */
const settings = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.untrackedCache=false',
  'core.excludesFile=/dev/null',
  'core.attributesFile=/dev/null',
  'core.quotePath=false',
  'core.pager=cat',
  'core.askPass=',
  'core.alternateRefsCommand=',
  'credential.interactive=false',
  'protocol.ext.allow=never',
  'protocol.fd.allow=never',
  'submodule.recurse=false',
  'fetch.recurseSubmodules=false',
  'diff.ignoreSubmodules=all',
  'commit.gpgSign=false',
  'gc.auto=0',
  // Callers expect a single pack.
  'pack.packSizeLimit=0',
  'maintenance.auto=false',
  // A removal relies on this data, so it must be on the disk.
  'core.fsync=all',
];

/**
 * In every call that stays on this machine. The person's repository is the git directory of some of them, and an agent
 * that is not isolated can write its configuration: an address that is rewritten to ssh would run a program of the agent.
 */
const local = ['protocol.allow=never', 'protocol.file.allow=always', 'core.sshCommand=false', 'core.gitProxy=false'];

/**
 * Borrowed objects, and the lookup tables next to them, may be an agent's. Git trusts such a table without a check: it
 * could name wrong parents of a commit, and hide commits when Baton counts them.
 */
const wary = ['core.commitGraph=false', 'core.multiPackIndex=false', 'pack.useBitmaps=false'];

const networkVariables = [
  ...['HOME', 'USER', 'LOGNAME', 'XDG_*', 'SSH_AUTH_SOCK', 'SSL_CERT_FILE', 'SSL_CERT_DIR'],
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'all_proxy', 'no_proxy'],
];

const localVariables = {
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_ALLOW_PROTOCOL: 'file',
};

const ownNetworkVariables = { ...localVariables, GIT_ALLOW_PROTOCOL: 'http:https' };

/** A redirect would take the credential to another host. */
const ownNetwork = ['http.followRedirects=false', 'credential.helper='];

export function createGit(parts: GitParts): Git {
  const [ofAgents, ofOurs] = [limitConcurrency(mostAtOnce), limitConcurrency(mostAtOnce)];
  const ask = (call: GitCall): Promise<GitAnswer> =>
    (readsAgents(call) ? ofAgents : ofOurs)(() => callGit(call, parts));
  return {
    ask,
    run: async (call) => {
      const { code, stdout, stderr } = await ask(call);
      if (code === 0) return stdout;
      const { args } = call;
      const said = harmlessLine(withoutPasswords(stderr.trim().slice(-longestRemark)));
      throw new BatonError('git_failed', `git ${args[0]} failed: ${said || `exit code ${code}`}`, {
        details: { args: args.slice(0, 20).map(withoutPasswords), code, said },
      });
    },
  };
}

function readsAgents({ workTree, borrowed = [], readsAgents: isDeclared = false }: GitCall): boolean {
  return isDeclared || workTree !== undefined || borrowed.length > 0;
}

async function callGit(call: GitCall, parts: GitParts): Promise<GitAnswer> {
  const { network = false, args, signal } = call;
  const timeoutMs = call.timeoutMs ?? (network === false ? usualTimeoutMs : networkTimeoutMs);
  const cwd = call.workTree ?? call.gitDir ?? '/';
  const own = [
    ...settings,
    ...(network === false ? local : network === 'own' ? ownNetwork : []),
    ...(call.borrowed?.length ? wary : []),
    ...(call.settings ?? []),
  ];
  let result: RunResult;
  try {
    result = await runToEnd(
      {
        command: 'git',
        args: [...own.flatMap((setting) => ['-c', setting]), ...args],
        cwd,
        env: environmentOf(call, parts),
        runId: 'git',
        timeoutMs,
        maxOutputBytes: call.maxOutputBytes ?? usualOutputBytes,
        endsWhenTooLong: true,
        outputEncoding: 'latin1',
        ...(call.stdin === undefined ? {} : { stdin: call.stdin }),
        ...(signal === undefined ? {} : { signal }),
      },
      // Nothing that git starts here leaves its group, and a namespace would cost more than most calls.
      { ...parts, containment: 'group_only' },
    );
  } catch (cause) {
    if (signal?.aborted === true || !(cause instanceof BatonError) || cause.code !== 'process_spawn_failed')
      throw cause;
    // The kernel reports a missing program and a missing folder with the same error code.
    if ((await lstatOrNull(cwd).catch(() => null))?.isDirectory() !== true)
      throw new BatonError(
        'process_spawn_failed',
        `Failed to run git ${args[0]}: its folder ${cwd} no longer exists.`,
        {
          cause,
          details: { folder: cwd },
          nextStep:
            'Nothing to do: another program removed the folder, and Baton creates it again on the next attempt.',
        },
      );
    throw new BatonError('git_missing', 'Failed to start git.', { cause });
  }
  const { code, stdout, stderr, timedOut, truncated } = result;
  if (timedOut) throw new BatonError('git_timeout', `git ${args[0]} took longer than ${timeoutMs} ms.`);
  if (truncated) throw new BatonError('git_failed', `git ${args[0]} wrote more output than Baton reads.`);
  if (code === null) throw new BatonError('git_failed', `git ${args[0]} was ended by ${result.signal}.`);
  return { code, stdout, stderr };
}

function environmentOf(call: GitCall, { daemonEnv }: GitParts): Readonly<Record<string, string>> {
  const { gitDir, workTree, indexFile, objects, borrowed = [], network = false } = call;
  return childEnvironment({
    from: daemonEnv,
    allow: ['PATH', 'TMPDIR', 'TZ', ...(network === false ? [] : networkVariables)],
    deny: [],
    add: {
      LC_ALL: 'C',
      GIT_TERMINAL_PROMPT: '0',
      GIT_ASKPASS: '',
      SSH_ASKPASS: '',
      GIT_OPTIONAL_LOCKS: '0',
      GIT_NO_REPLACE_OBJECTS: '1',
      GIT_NO_LAZY_FETCH: '1',
      GIT_ATTR_NOSYSTEM: '1',
      ...(network === true ? {} : network === 'own' ? ownNetworkVariables : localVariables),
      ...secretVariables(call.secretSettings ?? []),
      ...(gitDir === null ? {} : { GIT_DIR: gitDir }),
      ...(workTree === undefined ? {} : { GIT_WORK_TREE: workTree }),
      ...(indexFile === undefined ? {} : { GIT_INDEX_FILE: indexFile }),
      ...(objects === undefined ? {} : { GIT_OBJECT_DIRECTORY: objects }),
      ...(borrowed.length === 0 ? {} : { GIT_ALTERNATE_OBJECT_DIRECTORIES: borrowed.map(quotedByGit).join(':') }),
    },
  });
}

/** Settings that git reads from its environment. */
function secretVariables(secrets: NonNullable<GitCall['secretSettings']>): Record<string, string> {
  if (secrets.length === 0) return {};
  const pairs = secrets.flatMap(([name, value], at) => [
    [`GIT_CONFIG_KEY_${at}`, name],
    [`GIT_CONFIG_VALUE_${at}`, value],
  ]);
  return { GIT_CONFIG_COUNT: String(secrets.length), ...Object.fromEntries(pairs) };
}

/** Drops the user part of a URL: it may contain a password. */
function withoutPasswords(text: string): string {
  return text.replaceAll(/\/\/[^/\s]*@/g, '//');
}

/** A text between quotes, as git reads one in its configuration and in a list of paths. */
export function quotedByGit(text: string): string {
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n').replaceAll('\t', '\\t')}"`;
}
