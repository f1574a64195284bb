import { mkdtemp, stat } from 'node:fs/promises';
import path from 'node:path';
import type { RunResult } from '../run-to-end.ts';

/** One attempted check and its result. */
export interface ContainmentCheck {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
}

/** A folder for the checks, and ways to run shell scripts inside and outside of a namespace. */
export interface Trial {
  readonly folder: string;
  inside(script: string, cwd?: string): Promise<RunResult>;
  outside(script: string, cwd?: string): Promise<RunResult>;
  /** Runs the script inside, and counts the processes of it that are left; they are ended. */
  survivorsOf(script: string): Promise<Pick<RunResult, 'code' | 'stderr'> & { readonly survivors: number }>;
  /** Runs the script inside until its first line of output, stops it with TERM, and returns its exit code. */
  terminateInside(script: string): Promise<number | null>;
}

type Verdict = Omit<ContainmentCheck, 'name'>;

/** The checks that must pass inside a pid namespace before Baton runs agents in one, in their order. */
export const namespaceChecks: Readonly<Record<string, (trial: Trial) => Promise<Verdict>>> = {
  async exit_code(trial) {
    const { code, stderr } = await trial.inside('touch owned; exit 7');
    const owner = await stat(path.join(trial.folder, 'owned')).then(
      ({ uid }) => uid,
      () => null,
    );
    return verdict(
      code === 7 && owner === process.geteuid?.(),
      'A program runs in the namespace, its files belong to the user that runs Baton, and Baton receives its exit code.',
      stderr,
    );
  },

  async terminate(trial) {
    // In older versions TERM ends unshare itself, which kills the program before it can clean up.
    const code = await trial.terminateInside('trap "exit 9" TERM; echo ready; while :; do sleep 0.05; done');
    return verdict(code === 9, 'A program in the namespace receives TERM and can clean up.');
  },

  async nothing_survives(trial) {
    const { code, survivors, stderr } = await trial.survivorsOf(
      'setsid sh -c "touch started; exec sleep 60" & while [ ! -e started ]; do sleep 0.01; done',
    );
    return verdict(code === 0 && survivors === 0, 'Processes that a program leaves behind end with it.', stderr);
  },

  commit: (trial) =>
    asGoodAsOutside(
      trial,
      'export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1; git init -q . && echo tried > file && git add file && ' +
        'git -c user.name=baton -c user.email=baton@localhost commit -qm tried',
      'Git can commit in the namespace.',
    ),

  /** Bubblewrap needs this, and the sandboxes of the agents use bubblewrap. */
  nested_sandbox: (trial) =>
    asGoodAsOutside(
      trial,
      'unshare --user --map-root-user --mount --pid --fork --mount-proc true',
      'A program in the namespace can create another namespace.',
    ),

  bubblewrap: (trial) =>
    asGoodAsOutside(
      trial,
      '! command -v bwrap >/dev/null || bwrap --unshare-user --unshare-pid --ro-bind / / --dev /dev --proc /proc true',
      'Bubblewrap works in the namespace, where it is installed.',
    ),
};

/** Passes when the script does not work outside of the namespace either: then a namespace loses nothing. */
async function asGoodAsOutside(trial: Trial, script: string, claim: string): Promise<Verdict> {
  const inside = await trial.inside(script, await mkdtemp(path.join(trial.folder, 'inside-')));
  if (inside.code === 0) return verdict(true, claim);
  const outside = await trial.outside(script, await mkdtemp(path.join(trial.folder, 'outside-')));
  if (outside.code === 0) return verdict(false, claim, inside.stderr);
  return { ok: true, detail: `Skipped: it does not work outside of a namespace either (${reason(outside.stderr)}).` };
}

function verdict(ok: boolean, claim: string, stderr = ''): Verdict {
  return { ok, detail: ok ? claim : `This failed: ${claim} (${reason(stderr)})` };
}

function reason(stderr: string): string {
  return stderr.trim().split('\n').at(-1) || 'no reason given';
}
