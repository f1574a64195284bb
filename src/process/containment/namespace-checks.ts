import { mkdtemp, stat } from 'node:fs/promises';
import path from 'node:path';
import type { RunResult } from '../run-to-end.ts';

/** One attempted check and its result. */
export interface CustodyCheck {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
}

/** A folder to try things in, and ways to run shell scripts inside and outside of the namespace. */
export interface Trial {
  readonly folder: string;
  inside(script: string, cwd?: string): Promise<RunResult>;
  outside(script: string, cwd?: string): Promise<RunResult>;
  /** Runs the script inside until its first line of output, stops it with TERM, and returns its exit code. */
  terminateInside(script: string): Promise<number | null>;
}

type Verdict = Omit<CustodyCheck, 'name'>;

/** What must hold inside a pid namespace before agents are put into one, in the order of the checks. */
export const namespaceChecks: Readonly<Record<string, (trial: Trial) => Promise<Verdict>>> = {
  async exit_code(trial) {
    const { code, stderr } = await trial.inside('exit 7');
    return verdict(code === 7, 'A program runs inside and its exit code comes out.', stderr);
  },

  async terminate(trial) {
    // Older versions of unshare die of the TERM themselves and take the program along before it can tidy up.
    const code = await trial.terminateInside('trap "exit 9" TERM; echo ready; while :; do sleep 0.05; done');
    return verdict(code === 9, 'A program inside hears TERM and ends in its own way.');
  },

  async nothing_survives(trial) {
    const { code, survivorsEnded, stderr } = await trial.inside(
      'setsid sh -c "touch started; exec sleep 60" & while [ ! -e started ]; do sleep 0.01; done',
    );
    return verdict(code === 0 && survivorsEnded === 0, 'What a program leaves behind ends with it.', stderr);
  },

  async file_ownership(trial) {
    const { stderr } = await trial.inside('touch owned');
    const owner = await stat(path.join(trial.folder, 'owned')).then(
      ({ uid }) => uid,
      () => null,
    );
    return verdict(owner === process.geteuid?.(), 'Files made inside belong to the user that runs Baton.', stderr);
  },

  commit: (trial) =>
    asGoodAsOutside(
      trial,
      'export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1; git init -q . && echo tried > file && git add file && ' +
        'git -c user.name=baton -c user.email=baton@localhost commit -qm tried',
      'Git commits inside.',
    ),

  /** The features that bubblewrap, and with it the sandboxes of the agents, needs. */
  nested_sandbox: (trial) =>
    asGoodAsOutside(
      trial,
      'unshare --user --map-root-user --mount --pid --fork --mount-proc true',
      'A namespace can be made inside the namespace.',
    ),

  bubblewrap: (trial) =>
    asGoodAsOutside(
      trial,
      'bwrap --unshare-user --unshare-pid --ro-bind / / --dev /dev --proc /proc true',
      'Bubblewrap works inside.',
    ),
};

/** A feature that does not work outside either is not lost inside. */
async function asGoodAsOutside(trial: Trial, script: string, claim: string): Promise<Verdict> {
  const outside = await trial.outside(script, await mkdtemp(path.join(trial.folder, 'outside-')));
  if (outside.code !== 0) {
    return { ok: true, detail: `Nothing to lose: it does not work outside either (${reason(outside.stderr)}).` };
  }
  const inside = await trial.inside(script, await mkdtemp(path.join(trial.folder, 'inside-')));
  return verdict(inside.code === 0, claim, inside.stderr);
}

function verdict(ok: boolean, claim: string, stderr = ''): Verdict {
  return { ok, detail: ok ? claim : `Not so: ${claim} (${reason(stderr)})` };
}

function reason(stderr: string): string {
  return stderr.trim().split('\n').at(-1) || 'no reason given';
}
