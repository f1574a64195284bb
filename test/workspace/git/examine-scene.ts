import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { systemClock } from '../../../src/clock/system-clock.ts';
import { examineWorkspace } from '../../../src/workspace/examine/examine-workspace.ts';
import type { Checkout } from '../../../src/workspace/git/checkout/checkout.ts';
import { createGit, type Git, type GitCall } from '../../../src/workspace/git/git.ts';
import { type GitPlaces, gitPlaces } from '../../../src/workspace/git/git-places.ts';
import type { GitExamination } from '../../../src/workspace/git/shadow/examine-git.ts';
import { setShadow } from '../../../src/workspace/git/shadow/shadow-git.ts';
import type { WorkspaceFacts } from '../../../src/workspace/workspace.ts';
import { scratchFolder } from '../scratch-folder.ts';

const identity = '-c user.name=T -c user.email=t@example.com -c init.defaultBranch=main -c protocol.file.allow=always';

/** A person's or an agent's shell, with a git that reads no configuration of the machine. Returns its output. */
export function shell(script: string, cwd: string, env: Record<string, string> = {}): string {
  return execFileSync('sh', ['-ec', `git() { command git ${identity} "$@"; }\n${script}`], {
    cwd,
    stdio: 'pipe',
    encoding: 'utf8',
    env: {
      PATH: process.env.PATH,
      HOME: '/nonexistent',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      ...env,
    },
  });
}

/** The git of the daemon. */
export function scratchGit(env: Record<string, string | undefined> = {}): Git {
  return createGit({
    clock: systemClock,
    containment: 'marker_sweep',
    daemonId: 'd',
    daemonEnv: { PATH: process.env.PATH, ...env },
  });
}

/** The same, with a record of its calls. */
export function watchedGit(git: Git = scratchGit()): { git: Git; calls: GitCall[] } {
  const calls: GitCall[] = [];
  const note = (call: GitCall): GitCall => {
    calls.push(call);
    return call;
  };
  return { git: { run: (call) => git.run(note(call)), ask: (call) => git.ask(note(call)) }, calls };
}

export interface LookScene {
  readonly folder: string;
  /** A repository with one commit: `file` and `dir/other`. */
  readonly workspace: string;
  readonly places: GitPlaces;
  readonly calls: GitCall[];
  /** An action of the agent in the workspace. */
  agent(script: string): string;
  look(checkout?: Checkout | null, more?: Partial<GitExamination>): Promise<WorkspaceFacts | null>;
  /** Treats the workspace as one that Baton has just filled. */
  asCheckout(): Promise<Checkout>;
}

export const oneCommit = `git init -q .; echo one > file; mkdir dir; echo two > dir/other; printf 'ignored\\n*.log\\n' > .gitignore
  git add -A; git commit -qm one`;

/** A workspace with a repository, and Baton's git files next to it. */
export function lookScene(made: string = oneCommit): LookScene {
  const folder = scratchFolder();
  const workspace = path.join(folder, 'workspace');
  mkdirSync(workspace);
  const places = gitPlaces(path.join(folder, 'state'));
  mkdirSync(places.scratch, { recursive: true });
  const { git, calls } = watchedGit();
  const agent = (script: string): string => shell(script, workspace);
  agent(made);
  return {
    folder,
    workspace,
    places,
    calls,
    agent,
    look: async (checkout = null, more = {}) => {
      const facts = await examineWorkspace(workspace, { git, places, checkout, ...more });
      // An examination must leave nothing behind.
      const left = readdirSync(places.scratch, { withFileTypes: true });
      if (left.length > 0) throw new Error(`a look left ${left.map(({ name }) => name).join()}`);
      return facts;
    },
    asCheckout: async () => {
      const shadow = path.join(folder, 'state', 'shadow');
      const head = agent('git rev-parse HEAD').trim();
      const index = path.join(folder, 'state', 'index');
      mkdirSync(path.dirname(index), { recursive: true });
      agent('git update-index -q --refresh');
      agent(`cp -p .git/index '${index}'`);
      await setShadow({ folder: shadow, head, objectFormat: 'sha1', index });
      return {
        workspace,
        strategy: 'clone',
        repository: '/r',
        branch: 'main',
        base: 'main',
        baseCommit: head,
        published: null,
        objectFormat: 'sha1',
        gitDir: path.join(workspace, '.git'),
        shadow,
        borrowed: [],
        excludes: ['/brought'],
      };
    },
  };
}
