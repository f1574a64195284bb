import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { shell } from './examine-scene.ts';

/**
 * The ways known to us in which a repository makes git run a program, or shows it something else than what is there. An
 * agent can write all of them.
 */
export interface Trap {
  readonly name: string;
  /** Shell text for the workspace of `trapGround`; `$canary` is the program, `$git` the git directory. */
  readonly planted: string;
  /** What a person would do with plain git there to run the canary; null where git itself is safe. */
  readonly sprungBy: string | null;
  /** It replaces the git directory, so that no other trap works together with it. */
  readonly isAlone?: true;
}

export interface Canary {
  /** An executable program outside of the workspace. */
  readonly program: string;
  /** Whether it was run, and with which arguments. */
  sang(): readonly string[];
  silence(): void;
}

/** A program that leaves a trace when it is run. */
export function hatchCanary(folder: string): Canary {
  const traces = path.join(folder, 'traces');
  const program = path.join(folder, 'canary');
  mkdirSync(traces, { recursive: true });
  writeFileSync(program, `#!/bin/sh\nmktemp '${traces}/${path.basename(folder)}.XXXXXX' > /dev/null\nexit 0\n`);
  chmodSync(program, 0o755);
  return {
    program,
    sang: () => (existsSync(traces) ? readdirSync(traces) : []),
    silence: () => {
      rmSync(traces, { recursive: true, force: true });
      mkdirSync(traces);
    },
  };
}

/** The content that the traps need: two commits, a changed and a new file. Run in an empty folder. */
export const trapGround = `git init -q .; echo one > file; echo two > other; mkdir dir; echo x > dir/deep; git add -A; git commit -qm one
  git checkout -q -b side; echo side > other; git commit -qam side; git checkout -q main
  echo more >> other; git commit -qam two; echo changed >> file; echo new > new`;

/** Puts traps into an existing repository. They all run the canary. */
export function plantTraps(
  workspace: string,
  gitDir: string,
  canary: Canary,
  planted: readonly Trap[] = traps.filter(({ isAlone }) => isAlone !== true),
): void {
  for (const trap of planted) shell(trap.planted, workspace, { canary: canary.program, git: gitDir });
}

/** Springs the trap with plain git. The exit code of git does not matter. */
export function spring(trap: Trap, workspace: string): void {
  shell(`{ ${trap.sprungBy ?? ':'}; } < /dev/null > /dev/null 2>&1 || :`, workspace);
}

const hookNames = [
  ...['applypatch-msg', 'commit-msg', 'fsmonitor-watchman', 'post-applypatch', 'post-checkout', 'post-commit'],
  ...[
    'post-index-change',
    'post-merge',
    'post-receive',
    'post-rewrite',
    'post-update',
    'pre-applypatch',
    'pre-auto-gc',
  ],
  ...['pre-commit', 'pre-merge-commit', 'pre-push', 'pre-rebase', 'pre-receive', 'prepare-commit-msg', 'proc-receive'],
  ...['push-to-checkout', 'reference-transaction', 'sendemail-validate', 'update'],
].join(' ');

const hooksIn = (folder: string) =>
  `mkdir -p ${folder}; for hook in ${hookNames}; do cp "$canary" "${folder}/$hook"; done`;

const config = (name: string, value = '"$canary"') => `git config --file "$git/config" ${name} ${value}`;

const attribute = (text: string) => `printf '* %s\\n' '${text}' >> .gitattributes`;

const write = 'git add -A';
const refresh = 'touch -d 2001-01-01 file other; git status';

export const traps: readonly Trap[] = [
  // These commit, so they come before those at which a commit would spring the trap or fail.
  {
    name: 'a submodule with a configuration of its own',
    planted: `git init -q sub; git -C sub commit -q --allow-empty -m s; git --git-dir="$git" --work-tree=. add sub
      git --git-dir="$git" --work-tree=. commit -qm sub; git -C sub config core.fsmonitor "$canary"; cp "$canary" sub/.git/hooks/post-index-change`,
    sprungBy: 'git status; git diff',
  },
  {
    name: 'a submodule that is updated by a command',
    planted: `git config --file .gitmodules submodule.u.path u; git config --file .gitmodules submodule.u.url ./nowhere
      git config --file .gitmodules submodule.u.update checkout; ${config('submodule.u.url', '"$git"')}
      ${config('submodule.u.update', '"!$canary"')}; ${config('submodule.u.active', 'true')}; git init -q u
      git -C u commit -q --allow-empty -m u; git --git-dir="$git" --work-tree=. add u; git -C u commit -q --allow-empty -m v`,
    sprungBy: 'git submodule update --no-fetch',
  },
  { name: 'every hook', planted: hooksIn('$git/hooks'), sprungBy: 'git commit -qam x' },
  {
    name: 'hooks elsewhere (core.hooksPath)',
    planted: `${hooksIn('$git/other-hooks')}; ${config('core.hooksPath', '"$git/other-hooks"')}`,
    sprungBy: 'git commit -qam x',
  },
  { name: 'core.fsmonitor', planted: config('core.fsmonitor'), sprungBy: 'git status' },
  {
    name: 'core.fsmonitor, version 2',
    planted: `${config('core.fsmonitor')}; ${config('core.fsmonitorHookVersion', '2')}`,
    sprungBy: 'git diff',
  },
  { name: 'diff.external', planted: config('diff.external'), sprungBy: 'git diff' },
  {
    name: 'a diff driver',
    planted: `${config('diff.trap.command')}; ${attribute('diff=trap')}`,
    sprungBy: 'git diff',
  },
  {
    name: 'a text conversion',
    planted: `${config('diff.text.textconv')}; ${attribute('diff=text')}`,
    sprungBy: 'git diff',
  },
  { name: 'a clean filter', planted: `${config('filter.c.clean')}; ${attribute('filter=c')}`, sprungBy: refresh },
  {
    name: 'a required filter process',
    planted: `${config('filter.p.process')}; ${config('filter.p.required', 'true')}; ${attribute('filter=p')}`,
    sprungBy: write,
  },
  {
    name: 'a smudge filter',
    planted: `${config('filter.s.smudge')}; ${attribute('filter=s')}`,
    sprungBy: 'rm other; git checkout other',
  },
  {
    name: 'a filter in info/attributes',
    planted: `${config('filter.i.clean')}; mkdir -p "$git/info"; echo '* filter=i' >> "$git/info/attributes"`,
    sprungBy: write,
  },
  {
    name: 'a filter behind a macro with the name of an attribute',
    planted: `${config('filter.m.clean')}; { echo '[attr]text filter=m'; echo '* text'; } >> .gitattributes`,
    sprungBy: write,
  },
  {
    name: 'a filter behind core.attributesFile',
    planted: `${config('filter.a.clean')}; echo '* filter=a' > "$git/a"; ${config('core.attributesFile', '"$git/a"')}`,
    sprungBy: write,
  },
  {
    name: 'a merge driver',
    planted: `${config('merge.trap.driver')}; ${attribute('merge=trap')}`,
    sprungBy: 'git stash; git merge side',
  },
  {
    name: 'aliases with the names of commands',
    planted: [
      ...['status', 'read-tree', 'rev-list', 'ls-files', 'add', 'commit-tree', 'write-tree', 'update-ref', 'cat-file'],
      ...['pack-objects', 'index-pack', 'diff', 'fetch', 'rev-parse', 'for-each-ref', 'update-index', 'hash-object'],
    ]
      .map((name) => config(`alias.${name}`, '"!$canary"'))
      .join('; '),
    sprungBy: null,
  },
  {
    name: 'core.sshCommand',
    planted: `${config('core.sshCommand')}; ${config('remote.ssh.url', 'ssh://nobody@localhost:1/x')}`,
    sprungBy: 'git fetch ssh',
  },
  {
    name: 'core.gitProxy',
    planted: `${config('core.gitProxy')}; ${config('remote.proxy.url', 'git://localhost:1/x')}`,
    sprungBy: 'git fetch proxy',
  },
  {
    name: 'a transport that is a command',
    planted: `${config('remote.ext.url', '"ext::$canary"')}; ${config('protocol.ext.allow', 'always')}`,
    sprungBy: 'git fetch ext',
  },
  {
    name: 'a rewritten address',
    planted: `${config('protocol.ext.allow', 'always')}; ${config('"url.ext::$canary .insteadOf"', 'https:')}`,
    sprungBy: 'git fetch https://x',
  },
  {
    name: 'core.askPass',
    planted: config('core.askPass'),
    sprungBy: "printf 'url=https://x.invalid\\n\\n' | git credential fill",
  },
  {
    name: 'credential.helper',
    planted: config('credential.helper', '"!$canary"'),
    sprungBy: "printf 'url=https://x.invalid\\n\\n' | git credential fill",
  },
  { name: 'core.pager', planted: `${config('core.pager')}; ${config('pager.status')}`, sprungBy: null },
  { name: 'core.editor', planted: config('core.editor'), sprungBy: 'git commit -a' },
  {
    name: 'gpg.program',
    planted: `${config('gpg.program')}; ${config('commit.gpgSign', 'true')}; ${config('tag.gpgSign', 'true')}`,
    sprungBy: 'git commit -qam x',
  },
  {
    name: 'a trailer command',
    planted: config('trailer.t.command'),
    sprungBy: 'echo x | git interpret-trailers --trailer t=1',
  },
  { name: 'a format of archives', planted: config('tar.t.command'), sprungBy: 'git archive --format=t HEAD' },
  {
    name: 'include.path',
    planted: `git config --file "$git/more" core.fsmonitor "$canary"; ${config('include.path', 'more')}`,
    sprungBy: 'git status',
  },
  {
    name: 'includeIf',
    planted: `git config --file "$git/if" core.fsmonitor "$canary"; ${config('"includeIf.gitdir:/.path"', 'if')}`,
    sprungBy: 'git status',
  },
  {
    name: 'config.worktree',
    planted: `${config('extensions.worktreeConfig', 'true')}; ${config('core.repositoryFormatVersion', '1')}
      git config --file "$git/config.worktree" core.fsmonitor "$canary"`,
    sprungBy: 'git status',
  },
  {
    name: 'a promisor remote and a missing object',
    planted: `${config('core.repositoryFormatVersion', '1')}; ${config('extensions.partialClone', 'promise')}
      ${config('remote.promise.url', '"$git"')}; ${config('remote.promise.promisor', 'true')}; ${config('remote.promise.uploadpack')}
      id=$(git --git-dir="$git" rev-parse HEAD:file); rm -f "$git/objects/$(echo $id | cut -c1-2)/$(echo $id | cut -c3-)"`,
    sprungBy: 'git cat-file -p HEAD:file',
  },
  {
    name: 'core.alternateRefsCommand',
    planted: `${config('core.alternateRefsCommand')}; git init -q --bare "$git/lent"
      echo "$git/lent/objects" > "$git/objects/info/alternates"; ${config('remote.lent.url', '"$git"')}`,
    sprungBy: 'git fetch lent; git -C . fetch "$PWD/.git" side:copy',
  },
  {
    name: 'a repository within',
    planted: `git init -q nested; touch nested/x; git -C nested config core.fsmonitor "$canary"
      for hook in ${hookNames}; do cp "$canary" nested/.git/hooks/$hook; done`,
    sprungBy: 'git -C nested status',
  },
  {
    name: 'a bare repository among the files',
    planted: `git init -q --bare bare; git -C bare config core.bare false; git -C bare config core.worktree ..
      git -C bare config core.fsmonitor "$canary"`,
    sprungBy: 'cd bare; git status',
  },
  {
    name: 'a file .git that leads to another repository',
    planted: `git init -q "$git.other"; git -C "$git.other" commit -q --allow-empty -m other
      git -C "$git.other" config core.fsmonitor "$canary"; rm -rf .git; echo "gitdir: $git.other/.git" > .git`,
    sprungBy: 'git status',
    isAlone: true,
  },
];
