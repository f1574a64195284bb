import type { BatonError } from '../../../core/baton-error.ts';
import type { RepositorySettings } from '../../../core/settings.ts';
import { harmlessLine } from '../../../core/text/harmless-line.ts';
import { unusableSource } from './source-errors.ts';

/** The references of a source. */
export interface References {
  readonly ids: ReadonlyMap<string, string>;
  /** The reference that HEAD names. */
  readonly head: string | null;
}

const branchFolder = 'refs/heads/';
const remoteFolder = 'refs/remotes/';

/** The references that help to explain why a base is missing, and which branch the user may mean. */
export function explainingReferences(base: string | null): readonly string[] {
  const tag = base === null ? null : tagIn(base);
  const tags = tag === null ? [] : [`refs/tags/${tag}`, `refs/tags/${tag}^{}`];
  return ['HEAD', `${branchFolder}*`, `${remoteFolder}*`, ...tags];
}

/** Why there is no base commit, and the next step for a person. `base` is null when HEAD should name the branch. */
export function missingBase(repo: RepositorySettings, base: string | null, references: References): BatonError {
  const { ids } = references;
  if (ids.size === 0) {
    const nextStep = repo.isLocal
      ? "Make a first commit in it, such as `git commit --allow-empty -m 'First commit'`."
      : 'Push a first commit to it.';
    return unusableSource(repo, { problem: 'no_commit', what: 'has no commit yet', nextStep });
  }
  return base === null ? noHead(repo, references) : noBranch(repo, base, references);
}

function noHead(repo: RepositorySettings, references: References): BatonError {
  const likely = likelyBranch(references);
  const example = likely === null ? '' : `, such as ${shown(likely)}`;
  const nextStep = `Set \`workspace.base\` to the branch to start from${example}.`;
  const facts = { likely };
  if (references.ids.has('HEAD')) {
    const what = 'has no branch checked out: its HEAD is detached';
    return unusableSource(repo, { problem: 'detached_head', facts, what, nextStep });
  }
  const what = 'has no commit on its current branch';
  return unusableSource(repo, { problem: 'unborn_head', facts, what, nextStep });
}

function noBranch(repo: RepositorySettings, base: string, references: References): BatonError {
  const meaning = meaningOf(base, references);
  const problem = 'no_such_branch';
  const what = `has no branch ${shown(base)}`;
  if (meaning === null) {
    const likely = likelyName(base, references);
    const nextStep =
      fromRemote(base, references) ??
      `Fix \`workspace.base\`${meant(likely)}, or create that branch in the repository.`;
    return unusableSource(repo, { problem, facts: { base, likely }, what, nextStep });
  }
  const { kind, branch } = meaning;
  const isThere = branch !== null && references.ids.has(`${branchFolder}${branch}`);
  const likely = isThere ? branch : likelyBranch(references);
  const nextStep =
    (isThere || branch === null ? null : fromRemote(branch, references)) ??
    `Set \`workspace.base\` to the plain name of a branch${meant(likely)}.`;
  const isOther = `${what}: that is ${kindWords[kind]}, but \`workspace.base\` must be the plain name of a branch`;
  return unusableSource(repo, { problem, facts: { base, base_is: kind, likely }, what: isOther, nextStep });
}

const kindWords = {
  qualified_branch: 'a full reference name',
  remote_branch: 'a branch of a remote',
  tag: 'a tag',
  commit_id: 'the id of a commit',
};

interface Meaning {
  readonly kind: keyof typeof kindWords;
  /** The branch that was meant, there or not. */
  readonly branch: string | null;
}

/** What a text means that is not the name of a branch; null when it could be one. */
function meaningOf(base: string, references: References): Meaning | null {
  const { ids } = references;
  const [, own] = /^(?:refs\/)?heads\/(.+)$/.exec(base) ?? [];
  if (own !== undefined) return { kind: 'qualified_branch', branch: own };
  const [, folder, remote = '', theirs] = /^((?:refs\/)?remotes\/)?([^/]+)\/(.+)$/.exec(base) ?? [];
  const isRemote =
    folder !== undefined ||
    ['origin', 'upstream'].includes(remote) ||
    [...ids.keys()].some((name) => name.startsWith(`${remoteFolder}${remote}/`));
  if (theirs !== undefined && isRemote) return { kind: 'remote_branch', branch: theirs };
  const tag = `refs/tags/${tagIn(base)}`;
  const tagged = ids.get(`${tag}^{}`) ?? ids.get(tag);
  if (tagged !== undefined) return { kind: 'tag', branch: likelyBranch(references, tagged) };
  if (/^[0-9a-f]{7,64}$/i.test(base)) return { kind: 'commit_id', branch: likelyBranch(references, base) };
  return null;
}

/** An existing branch: the one at that commit, or else the one that HEAD names, or else the most common name. */
function likelyBranch({ ids, head }: References, commit = ids.get('HEAD') ?? null): string | null {
  const isAt = (name: string): boolean =>
    commit !== null && ids.get(`${branchFolder}${name}`)?.startsWith(commit.toLowerCase()) === true;
  const branches = branchesIn(ids);
  const own = head?.startsWith(branchFolder) === true ? head.slice(branchFolder.length) : null;
  const preferred = [own, 'main', 'master', ...branches].filter((name) => name !== null && branches.includes(name));
  return preferred.find((name) => name !== null && isAt(name)) ?? preferred[0] ?? null;
}

/** The branch that differs only in case, or else the branch that HEAD names. */
function likelyName(base: string, references: References): string | null {
  const same = branchesIn(references.ids).find((name) => name.toLowerCase() === base.toLowerCase());
  return same ?? likelyBranch(references);
}

function branchesIn(ids: References['ids']): string[] {
  return [...ids.keys()].filter((name) => name.startsWith(branchFolder)).map((name) => name.slice(branchFolder.length));
}

/** The next step for a branch that a repository knows only from a remote. */
function fromRemote(branch: string, { ids }: References): string | null {
  const seen = [...ids.keys()].find(
    (name) => name.startsWith(remoteFolder) && /^[^/]+\/(.*)$/s.exec(name.slice(remoteFolder.length))?.[1] === branch,
  );
  // A suggested command must not contain anything that a shell would interpret.
  if (seen === undefined || !/^[\w./-]+$/.test(seen)) return null;
  const command = `git branch ${branch} ${seen.slice(remoteFolder.length)}`;
  return `The branch exists only on a remote: run \`${command}\` in the repository, and set \`workspace.base: ${branch}\`.`;
}

function tagIn(base: string): string {
  return base.replace(/^(?:refs\/)?tags\//, '');
}

function meant(branch: string | null): string {
  return branch === null ? '' : ` (${shown(branch)}?)`;
}

/** The names in a repository are foreign text. */
function shown(name: string): string {
  return harmlessLine(name.slice(0, 200));
}
