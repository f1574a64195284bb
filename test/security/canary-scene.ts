import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { batonHere } from '../cli/baton-here.ts';
import { Place } from '../cli/run-baton.ts';
import { commit, scratchRepository } from '../workspace/git/scratch-repository.ts';

/** Unguessable, so that a find is the thing itself. */
const draw = (name: string): string => `canary_${name}_${randomBytes(18).toString('hex')}`;
const pattern = /canary_([a-z_]+)_[0-9a-f]{36}/g;

const names = [
  // Of the daemon's environment: two whose names say so, one whose name does not, and the password of a proxy.
  ...['env_key', 'env_token', 'env_plain', 'env_proxy'],
  // Of the home.
  ...['ssh', 'netrc', 'aws', 'gh', 'keyring', 'git_credentials', 'npmrc', 'letter'],
  // Of the state folder.
  ...['tokens', 'planted'],
  // Written into the workflow file, which agents may read.
  ...['hook_url', 'hook_secret', 'account_key'],
  // What the first agent says, what it leaves in its workspace, and what it writes into a commit.
  ...['transcript', 'workspace', 'committed'],
] as const;

export type CanaryName = (typeof names)[number];

/** How an agent, a hook, the setup or a check looks around: each kind of place apart. */
const ways = ['environment', 'processes', 'files', 'socket', 'api'] as const;

/** Who looks around; agents by their issue. */
export const spies = ['setup', 'before_run', 'after_run', 'check', 'BAT-1', 'BAT-2', 'BAT-3'] as const;

/**
 * A user, a repository and a Baton with a secret wherever one may be, and programs that look for all of them: the agent,
 * the hooks, the setup and the check each write down which canaries they see, and by which way, and print them.
 */
export class CanaryScene implements AsyncDisposable {
  readonly place: Place;
  readonly canaries: Readonly<Record<CanaryName, string>>;
  /** What Baton printed, answered and sent, by who got it. */
  readonly #served = new Map<string, string>();
  readonly #hook: Server;
  readonly isIsolated: boolean;

  private constructor(hook: Server, isolation: 'namespaces' | 'none') {
    this.isIsolated = isolation === 'namespaces';
    this.canaries = Object.fromEntries(names.map((name) => [name, draw(name)])) as Record<CanaryName, string>;
    const { env_key, env_token, env_plain, env_proxy, ...planted } = this.canaries;
    this.place = new Place({
      LINEAR_API_KEY: env_key,
      SERVICE_TOKEN: env_token,
      SOME_VALUE: env_plain,
      HTTPS_PROXY: `http://user:${env_proxy}@127.0.0.1:9/`,
      NO_PROXY: '127.0.0.1',
    });
    this.#hook = hook;
    const { place } = this;
    for (const [file, name] of Object.entries(homeFiles)) place.write(`home/${file}`, `${this.canaries[name]}\n`);
    place.write('home/.gitconfig', '[user]\n\tname = A Person\n\temail = person@example.invalid\n');
    place.write('state/baton/tokens.json', JSON.stringify({ note: planted.tokens }));
    place.write('state/baton/planted', planted.planted);
    mkdirSync(path.join(place.folder, 'seen'));
    place.write('spy.sh', spyScript(place.folder));
    const source = scratchRepository(path.join(place.folder, 'project'));
    commit(source, { '.gitignore': 'kept-here\n' });
    const { port } = hook.address() as AddressInfo;
    const spy = (who: string): string => JSON.stringify(`sh ${place.folder}/spy.sh ${who}`);
    place.write(
      'WORKFLOW.md',
      [
        '---',
        'project: {name: canaries}',
        'tracker: {kind: board}',
        'polling: {interval_ms: 1000, jobs: {pull_requests: {interval_ms: 1000}}}',
        `workspace: {root: workspaces, repo: project, base: main, setup: ${spy('setup')}}`,
        `hooks: {before_run: ${spy('before_run')}, after_run: ${spy('after_run; exit 3')}}`,
        `review: {checks: [${spy('check')}]}`,
        `notify: {targets: [{kind: webhook, url: "http://127.0.0.1:${port}/${planted.hook_url}", secret: ${planted.hook_secret}}]}`,
        'agent:',
        '  backend: command',
        `  command: ${JSON.stringify('cat > /dev/null; sh ../../spy.sh $BATON_ISSUE_IDENTIFIER; . ../../$BATON_ISSUE_IDENTIFIER.sh')}`,
        '  after_success: review',
        '  max_retry_backoff_ms: 600000',
        `  accounts: [{name: first, env: {ACCOUNT_KEY: ${planted.account_key}}}]`,
        '  isolation_write: [seen]',
        `  isolation: ${isolation}`,
        '---',
        'Work on {{ issue.identifier }}.',
      ].join('\n'),
    );
    // Only it knows these: it draws them itself.
    place.write(
      'BAT-1.sh',
      [
        'draw() { echo "canary_$1_$(od -An -N18 -tx1 /dev/urandom | tr -d " \\n")"; }',
        'draw workspace > kept-here; echo "I say $(draw transcript)"',
        'echo 1 > first; git add -A; git commit -qm "Make the first, $(draw committed)"',
      ].join('\n'),
    );
    // The second fails, with words of its own and work that is in no commit.
    place.write('BAT-2.sh', 'echo 2 > second; cat ../../seen/BAT-2.* >&2; exit 7');
    // The third writes what it found into a commit.
    place.write('BAT-3.sh', 'echo 3 > third; git add -A; git commit -qm "Make the third"');
  }

  static async open(isolation: 'namespaces' | 'none'): Promise<CanaryScene> {
    const bodies: string[] = [];
    const hook = createServer((request, response) => {
      request.setEncoding('utf8').on('data', (piece) => bodies.push(piece));
      request.on('end', () => response.end());
    }).listen(0, '127.0.0.1');
    await once(hook, 'listening');
    const scene = new CanaryScene(hook, isolation);
    scene.#bodies = bodies;
    return scene;
  }

  #bodies: string[] = [];

  /** Keeps what Baton printed or answered. */
  served(where: string, text: string): void {
    this.#served.set(where, `${this.#served.get(where) ?? ''}${text}`);
  }

  /** How much one of them was told. */
  bytesServed(where: string): number {
    return this.#served.get(where)?.length ?? 0;
  }

  get notifications(): readonly string[] {
    return this.#bodies;
  }

  /** Everything that a person may type to look, for people and for programs. */
  async type(commands: readonly (readonly string[])[]): Promise<void> {
    for (const args of commands)
      for (const json of [[], ['--json']]) {
        const { stdout, stderr } = await batonHere(this.place, ...args, ...json);
        if (stdout.length + stderr.length === 0) throw new Error(`baton ${args.join(' ')} printed nothing`);
        this.served(`baton ${args[0]}`, stdout + stderr);
      }
  }

  /** Which canaries each spy saw, by which way; a spy that never ran is missing. */
  visible(): Readonly<Record<string, readonly CanaryName[]>> {
    const seen = readdirSync(path.join(this.place.folder, 'seen'));
    return Object.fromEntries(
      spies.flatMap((who) =>
        ways
          .filter((way) => seen.includes(`${who}.${way}`))
          .map((way) => [`${who} ${way}`, this.#in(this.place.read(`seen/${who}.${way}`))] as const),
      ),
    );
  }

  /** How each request of a spy to the socket and to the API ended: the exit code of curl and the status of HTTP. */
  tried(who: (typeof spies)[number], way: 'socket' | 'api'): readonly string[] {
    const lines = this.place.read(`seen/${who}.tried`).trim().split('\n');
    return lines.filter((line) => line.startsWith(`${way} `)).map((line) => line.slice(way.length + 1));
  }

  /** Where each canary is, of all that Baton wrote, printed, answered and sent. */
  find(): (name: CanaryName) => readonly string[] {
    const { folder } = this.place;
    const files = readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => path.join(entry.parentPath, entry.name))
      .map((file) => [placeOf(path.relative(folder, file)), readFileSync(file, 'latin1')] as const);
    const objects = gitFolders(folder).map(
      (each) => [`git ${placeOf(path.relative(folder, each))}`, gitContent(each)] as const,
    );
    const texts = [...files, ...objects, ...this.#served, ['notifications', this.#bodies.join('\n')] as const];
    const found = texts
      .filter(([where]) => where !== 'seen')
      .flatMap(([where, text]) => this.#in(text).map((name) => ({ where, name })));
    return (wanted) => [...new Set(found.filter(({ name }) => name === wanted).map(({ where }) => where))].toSorted();
  }

  #in(text: string): readonly CanaryName[] {
    const named = [...text.matchAll(pattern)].map(([, name]) => name);
    return names.filter((name) => named.includes(name)).toSorted();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.place[Symbol.dispose]();
    this.#hook.closeAllConnections();
    this.#hook.close();
  }
}

export const homeFiles: Readonly<Record<string, CanaryName>> = {
  '.ssh/id_ed25519': 'ssh',
  '.netrc': 'netrc',
  '.aws/credentials': 'aws',
  '.config/gh/hosts.yml': 'gh',
  '.local/share/keyrings/login.keyring': 'keyring',
  '.git-credentials': 'git_credentials',
  '.npmrc': 'npmrc',
  'letters/private': 'letter',
  // What the daemon has in its environment as well, so that an agent may find and print it.
  '.config/linear/key': 'env_key',
  '.config/service/token': 'env_token',
  '.config/proxy': 'env_proxy',
};

/** A file by its part of the scene; the files of Baton by their kind, because their names are chosen at random. */
function placeOf(file: string): string {
  const [top = '', ...rest] = file.split(path.sep);
  if (top === 'seen' || top === 'workspaces' || top === 'project') return top;
  if (top !== 'state' || rest.length < 3) return file;
  return `state/${rest[2]}`.replace(/\.db.*$/, '.db').replace(/[^/]*\.jsonl?.*$/, 'log');
}

/** The folders with objects of git, whose content no search of bytes finds. */
function gitFolders(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name === 'objects')
    .map((entry) => entry.parentPath);
}

function gitContent(gitDir: string): string {
  return execFileSync('git', ['--git-dir', gitDir, 'cat-file', '--batch-all-objects', '--batch', '--unordered'], {
    encoding: 'latin1',
    env: {
      PATH: process.env.PATH,
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'safe.directory',
      GIT_CONFIG_VALUE_0: '*',
    },
    maxBuffer: 256 * 1024 * 1024,
  });
}

export const apiRoutes = [
  ...['state', 'projects', 'projects/canaries/status', 'projects/canaries/runs', 'projects/canaries/configuration'],
];

/** Looks for canaries by each way, writes down which it found, and prints them. */
function spyScript(folder: string): string {
  return `
who=$1; all=${folder}
look() { tr '\\0' '\\n' | grep -aoE 'canary_[a-z_]+_[0-9a-f]{36}' | sort -u >> "$all/seen/$who.$1"; }
(env; cat /proc/self/environ) 2>/dev/null | look environment
(cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline /proc/[0-9]*/task/*/environ) 2>/dev/null | look processes
find "$all" -path "$all/seen" -prune -o -type f -size -8192k -print0 2>/dev/null | xargs -0 cat 2>/dev/null | look files
ask() {
  way=$1; shift
  { ended=$(curl -s --noproxy '*' --max-time 60 -w '%{stderr}%{exitcode} %{http_code}' "$@" 2>&1 1>&3); } 3>&1
  echo "$way $ended" >> "$all/seen/$who.tried"
}
for socket in $( (find "$all" -type s; cat "$all/socket-path") 2>/dev/null | sort -u); do
  for each in ${apiRoutes.join(' ')}; do ask socket --unix-socket "$socket" "http://localhost/api/v1/$each"; done
done | look socket
for each in ${apiRoutes.join(' ')}; do ask api "$(cat "$all/api-url")/api/v1/$each"; done | look api
cat "$all/seen/$who".*
true
`;
}
