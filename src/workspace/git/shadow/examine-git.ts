import { createHash } from 'node:crypto';
import { BatonError } from '../../../core/baton-error.ts';
import type { CommitLine } from '../../../core/command/message-text.ts';
import { fingerprintTree } from '../../examine/fingerprint-tree.ts';
import { readPlainFile } from '../../read-small-file.ts';
import { type BytePath, toBytePath } from '../../walk-folders.ts';
import type { WorkspaceFacts } from '../../workspace.ts';
import type { Checkout } from '../checkout/checkout.ts';
import type { GitDirectory, Tip } from '../read/git-directory.ts';
import { readGitDirectory } from '../read/read-git-directory.ts';
import { type IndexEntry, readIndex, submoduleMode } from '../read/read-index.ts';
import { fileFactsOf } from './file-facts.ts';
import { type Look, type LookParts, withShadow } from './with-shadow.ts';

export interface GitExamination extends LookParts {
  /** Whether the repository that the checkout came from has this commit in its base now. */
  readonly isInBase?: ((checkout: Checkout, commit: string) => Promise<boolean>) | undefined;
  /** Called with the agent's git directory as soon as it is read. */
  readonly onRead?: ((directory: GitDirectory) => void) | undefined;
  /** How many commits beyond the base are listed. */
  readonly commits?: number;
}

/** More differences than this are no longer read one by one. */
const mostDifferences = 20_000;

/** How many entries of nested repositories are read, in total. */
const mostNestedEntries = 20_000;

const mostIndexBytes = 64 * 1024 * 1024;
const readAtOnce = 16;

/**
 * The state of a workspace that is a git repository. The agent's git directory is data here (`read-git-directory.ts`);
 * git sees the files through a shadow git directory. Rejects when something could not be read or understood.
 */
export function examineGit(
  workspace: string,
  directory: GitDirectory,
  examination: GitExamination,
): Promise<WorkspaceFacts> {
  return withShadow(workspace, directory, examination, async (look) => {
    const base = await baseOf(directory, look, examination);
    const [status, ahead, agentIndex, headIndex] = await Promise.all([
      examination.git.run({ ...look.call, args: statusArguments }),
      commitsAhead(directory, look, examination, base),
      indexIn(`${toBytePath(directory.folder)}/index`, directory),
      indexIn(toBytePath(look.shadow.indexFile), directory),
    ]);
    const differences = differencesOf(readStatus(status), agentIndex, headIndex);
    const nested = await examineNested(workspace, differences, headIndex);
    const conflicts = [...new Set(agentIndex.filter(({ stage }) => stage > 0).map((entry) => entry.path))];
    const { head, headReference } = directory;
    const most = ahead === null || ahead === 0 ? 0 : (examination.commits ?? 0);
    return {
      ...(most === 0 ? {} : { commits: await listCommits(directory, look, examination, { base, most }) }),
      fingerprint: digestOf([
        ['HEAD', headReference, head],
        ...ownTips(directory).map(({ name, id }) => ['tip', name, id]),
        ...conflicts.map((path) => ['conflict', path]),
        ...nested.facts,
        ...(await fileFacts(workspace, differences)),
      ]),
      git: {
        head,
        branch: headReference?.replace(/^refs\/heads\//, '') ?? null,
        ahead,
        ...(base?.tip == null ? {} : { base: base.commit }),
        changed: differences.changed.length + nested.changed,
        untracked: differences.untracked.length,
        conflicts: conflicts.length,
      },
    };
  });
}

const statusArguments = [
  ...['status', '--porcelain=v2', '-z', '--untracked-files=all', '--no-renames', '--no-ahead-behind'],
  // To examine a submodule, git would start in it with its own configuration.
  '--ignore-submodules=all',
];

interface Differences {
  /** Files of HEAD that are different or gone. */
  readonly changed: readonly BytePath[];
  /** Files that HEAD lacks; a nested repository ends in `/`. */
  readonly untracked: readonly BytePath[];
}

/** The index is HEAD's, so that only the work tree can differ. */
function readStatus(status: string): Differences & { readonly gone: ReadonlySet<BytePath> } {
  const changed: BytePath[] = [];
  const untracked: BytePath[] = [];
  const gone = new Set<BytePath>();
  for (const line of status.split('\0')) {
    if (line.startsWith('? ')) untracked.push(line.slice(2));
    if (!line.startsWith('1 ')) continue;
    const path = line.slice(positionAfter(line, ' ', 8));
    changed.push(path);
    if (line[3] === 'D') gone.add(path);
  }
  return { changed, untracked, gone };
}

function differencesOf(
  seen: ReturnType<typeof readStatus>,
  agentIndex: readonly IndexEntry[],
  headIndex: readonly IndexEntry[],
): Differences {
  // Files that a sparse checkout leaves out are not deleted.
  const skipped = new Set(agentIndex.filter((entry) => entry.isSkipped).map(({ path }) => path));
  const isSkipped = (path: BytePath): boolean => seen.gone.has(path) && isIn(path, skipped);
  // An ignored file that was added anyway belongs to the work.
  const known = new Set([...headIndex.map(({ path }) => path), ...seen.untracked]);
  const added = agentIndex.filter(({ path, isSkipped: isOut }) => !isOut && path !== '' && !known.has(path));
  const differences = {
    changed: seen.changed.filter((path) => !isSkipped(path)),
    untracked: [...seen.untracked, ...new Set(added.map(({ path }) => path))],
  };
  if (differences.changed.length + differences.untracked.length > mostDifferences)
    throw new BatonError(
      'workspace_unavailable',
      'The workspace differs from its commit in too many files to examine them all.',
    );
  return differences;
}

/** Whether the set contains the path itself, or a folder above it; a folder ends in `/`. */
function isIn(path: BytePath, paths: ReadonlySet<BytePath>): boolean {
  if (paths.has(path)) return true;
  for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) {
    if (paths.has(path.slice(0, at + 1))) return true;
  }
  return false;
}

type Fact = readonly (string | number | null)[];

async function fileFacts(workspace: string, { changed, untracked }: Differences): Promise<readonly Fact[]> {
  const files = fileFactsOf(toBytePath(workspace));
  const paths = [...changed, ...untracked.filter((path) => !path.endsWith('/'))].sort();
  const facts: Fact[] = [];
  for (let from = 0; from < paths.length; from += readAtOnce) {
    const some = paths.slice(from, from + readAtOnce);
    facts.push(...(await Promise.all(some.map(async (path) => ['file', path, ...(await files.of(path))]))));
  }
  return facts;
}

/** Nested repositories, submodules in HEAD or not: by names, sizes, times and references. */
async function examineNested(
  workspace: string,
  { untracked }: Differences,
  headIndex: readonly IndexEntry[],
): Promise<{ readonly facts: readonly Fact[]; readonly changed: number }> {
  const budget = { left: mostNestedEntries };
  const submodules = headIndex.filter(({ mode }) => mode === submoduleMode);
  const files = fileFactsOf(toBytePath(workspace));
  const facts: Fact[] = [];
  let changed = 0;
  for (const { path, id } of [
    ...submodules,
    ...untracked.filter((each) => each.endsWith('/')).map((each) => ({ path: each.slice(0, -1), id: null })),
  ]) {
    const [kind] = await files.of(path);
    const folder = Buffer.from(`${toBytePath(workspace)}/${path}`, 'latin1');
    const print = kind === 'directory' ? await fingerprintTree(folder, budget) : kind;
    if (print === null)
      throw new BatonError(
        'workspace_unavailable',
        'The workspace contains a repository that could not be examined completely.',
      );
    facts.push(['repository', path, print]);
    if (id !== null && (await hasAnotherHead(folder.toString('utf8'), id))) changed += 1;
  }
  return { facts, changed };
}

async function hasAnotherHead(folder: string, id: string): Promise<boolean> {
  const head = await readGitDirectory(`${folder}/.git`).then(
    (directory) => directory?.head ?? null,
    () => null,
  );
  return head !== null && head !== id;
}

interface Base {
  readonly commit: string;
  /** The base as the agent last fetched it, which may be in HEAD too; null: it has not moved. */
  readonly tip: string | null;
}

/**
 * The commit of the base that HEAD stands on: that of the checkout, or a later one that the agent has fetched and rebased
 * onto or merged. The agent can write this reference, so the repository itself says whether its commit is in the base.
 */
async function baseOf(
  { tips, head }: GitDirectory,
  look: Look,
  { checkout, git, isInBase }: GitExamination,
): Promise<Base | null> {
  const tipOf = (branch: string): string | null =>
    tips.find(({ name }) => name === `refs/remotes/origin/${branch}`)?.id ?? null;
  const commit = checkout?.baseCommit ?? tipOf('HEAD');
  if (commit === null) return null;
  const tip = checkout == null ? null : tipOf(checkout.base);
  const unmoved = { commit, tip: null };
  if (checkout == null || tip === null || tip === commit || head === null) return unmoved;
  if ((await isInBase?.(checkout, tip)) !== true) return unmoved;
  const { code, stdout } = await git.ask({ ...look.call, args: ['merge-base', tip, head] });
  const common = stdout.trim();
  return code !== 0 || common === commit ? unmoved : { commit: common, tip };
}

/** Empty if git does not answer, because only a prompt shows these commits. */
async function listCommits(
  directory: GitDirectory,
  look: Look,
  examination: GitExamination,
  { base, most }: { readonly base: Base | null; readonly most: number },
): Promise<readonly CommitLine[]> {
  const range = rangeOf(base, directory.head);
  const args = ['log', '-z', `--max-count=${most}`, '--no-show-signature', '--format=%H %s', ...range, '--'];
  const answer = await examination.git.ask({ ...look.call, args }).catch(() => null);
  if (answer?.code !== 0) return [];
  const lines = answer.stdout.split('\0').filter((line) => line !== '');
  return lines.map((line) => ({ id: line.slice(0, line.indexOf(' ')), subject: line.slice(line.indexOf(' ') + 1) }));
}

function rangeOf(base: Base | null, head: string | null): readonly string[] {
  return [`${base?.commit}..${head}`, ...(base?.tip == null ? [] : [`^${base.tip}`])];
}

async function commitsAhead(
  { head }: GitDirectory,
  look: Look,
  { git }: GitExamination,
  base: Base | null,
): Promise<number | null> {
  if (head === null || base === null) return null;
  if (head === base.commit) return 0;
  const answer = await git.ask({ ...look.call, args: ['rev-list', '--count', ...rangeOf(base, head)] });
  return answer.code === 0 ? Number(answer.stdout) : null;
}

/** In a linked worktree the references, and their changes, belong to all worktrees of the repository. */
function ownTips({ folder, common, headReference, tips }: GitDirectory): readonly Tip[] {
  const isOwn = ({ name }: Tip): boolean =>
    name === headReference || /^refs\/(?:bisect|worktree|rewritten)\//.test(name);
  return tips.filter((tip) => /^refs\/|^stash@/.test(tip.name) && (folder === common || isOwn(tip)));
}

async function indexIn(file: BytePath, { objectFormat }: GitDirectory): Promise<readonly IndexEntry[]> {
  const bytes = await readPlainFile(file, mostIndexBytes);
  return bytes === null ? [] : readIndex(bytes, objectFormat);
}

function positionAfter(text: string, character: string, count: number): number {
  let at = 0;
  for (let seen = 0; seen < count; seen += 1) at = text.indexOf(character, at) + 1;
  return at;
}

function digestOf(facts: readonly Fact[]): string {
  const digest = createHash('sha256');
  for (const fact of facts) digest.update(`${JSON.stringify(fact)}\n`);
  return digest.digest('hex');
}
