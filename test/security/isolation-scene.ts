import { spawnSync } from 'node:child_process';
import {
  chownSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { builtProgram, compileCache } from '../built-baton.ts';

/** A user without a name, a home or a group: the ordinary user where the tests run as root. */
const ordinary = 21_846;

export type Who = 'an ordinary user' | 'root';

const isRoot = process.geteuid?.() === 0;

/** Who may be tried here: root can be both. */
export const whoHere: readonly Who[] = isRoot ? ['an ordinary user', 'root'] : ['an ordinary user'];

export interface IsolatedResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly survivorsEnded: number;
}

/** Every secret of a scene has this word. */
export const canary = 'canary';

/** The folders of a user, a Baton and its repository, with a secret wherever an agent may not read. */
export class IsolationScene implements Disposable {
  readonly base: string = realpathSync(mkdtempSync(path.join(tmpdir(), 'baton-isolated-')));
  readonly who: Who;

  constructor(who: Who) {
    this.who = who;
    for (const file of ['home/.ssh/id_ed25519', 'home/.aws/credentials', 'home/.netrc', 'home/letters/private'])
      this.write(file, canary);
    for (const file of ['home/.cargo/credentials.toml', 'home/.config/gh/hosts.yml', 'home/.bash_history'])
      this.write(file, canary);
    for (const file of ['state/tokens.json', 'state/baton.db', 'workspaces/other/file']) this.write(file, canary);
    for (const file of [
      'home/.npm/cached',
      'home/.cargo/config.toml',
      'home/.profile',
      'repo/.git/config',
      'WORKFLOW.md',
    ])
      this.write(file, 'original');
    for (const folder of ['state/git/own', 'state/git/caches', 'workspaces/own'])
      mkdirSync(this.at(folder), { recursive: true });
    this.write('state/git/caches/object', 'original');
    if (who === 'an ordinary user' && isRoot) giveTo(this.base);
  }

  at(name: string): string {
    return path.join(this.base, name);
  }

  write(name: string, text: string): void {
    mkdirSync(path.dirname(this.at(name)), { recursive: true });
    writeFileSync(this.at(name), text);
  }

  /** Runs a shell script in isolation, with the base folder as `$1`. */
  isolated(
    script: string,
    settings: { read?: string[]; write?: string[]; wrapper?: string[]; isReadOnly?: boolean } = {},
  ): IsolatedResult {
    const { wrapper = [], ...more } = settings;
    const request = JSON.stringify({ base: this.base, script, ...more });
    // By descriptor: the user need not be able to reach the folder of this Node.
    const node = openSync(process.execPath, 'r');
    try {
      const program = builtProgram('security/isolated');
      const ended = this.outside([...wrapper, '/proc/self/fd/3', program, request], {
        stdio: ['ignore', 'pipe', 'pipe', node],
      });
      if (ended.status !== 0) throw new Error(`the launcher failed: ${ended.stderr}`);
      return JSON.parse(ended.stdout);
    } finally {
      closeSync(node);
    }
  }

  /** Runs a program as the user, without isolation. */
  outside(command: readonly string[], options: { stdio?: ('ignore' | 'pipe' | number)[] } = {}) {
    const [file = '', ...args] = [...this.asUser, ...command];
    const own = { HOME: this.at('home'), TMPDIR: '/tmp', NODE_COMPILE_CACHE: compileCache };
    const env = { PATH: process.env.PATH ?? '', ...own };
    return spawnSync(file, args, { ...options, encoding: 'utf8', env, cwd: '/', timeout: 120_000 });
  }

  /** The start of a command line that runs as the user. */
  get asUser(): readonly string[] {
    if (this.who === 'root' || !isRoot) return [];
    return ['setpriv', `--reuid=${ordinary}`, `--regid=${ordinary}`, '--clear-groups', '--'];
  }

  [Symbol.dispose](): void {
    rmSync(this.base, { recursive: true, force: true });
  }
}

function giveTo(place: string): void {
  chownSync(place, ordinary, ordinary);
  for (const entry of readdirSync(place, { withFileTypes: true })) {
    if (entry.isDirectory()) giveTo(path.join(place, entry.name));
    else chownSync(path.join(place, entry.name), ordinary, ordinary);
  }
}
