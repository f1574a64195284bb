import type { BatonError } from '../../../core/baton-error.ts';
import type { RepositorySettings } from '../../../core/settings.ts';
import type { Git } from '../git.ts';
import type { ObjectFormat } from '../shadow/shadow-git.ts';
import { keptBaseOf } from './home-repository.ts';
import { explainingReferences, missingBase, type References } from './missing-base.ts';
import { sourceAddress } from './source-address.ts';
import { whyUnreadable } from './source-errors.ts';

/** The current state of a source. */
export interface SourceHeads {
  readonly objectFormat: ObjectFormat;
  /** The branch that new ones begin at. */
  readonly base: string;
  /** The reference of the source that has it. */
  readonly baseReference: string;
  /** The commits of the base and of those wanted branches that are there. */
  readonly commits: ReadonlyMap<string, string>;
}

export interface SourceQuestion {
  readonly repo: RepositorySettings;
  /** Null: the branch that HEAD of the source names. */
  readonly base: string | null;
  /** Whether the base is the one that a remote host has, which the source keeps. */
  readonly isBaseKept?: boolean;
  readonly branches: readonly string[];
  readonly signal?: AbortSignal;
}

/**
 * Asks a source where its branches are; one call returns the base, the wanted branches, and the format of its objects.
 */
export async function readSource(git: Git, question: SourceQuestion): Promise<SourceHeads> {
  const { repo, base, branches, signal, isBaseKept = false } = question;
  const names = [...new Set([...(base === null ? [] : [base]), ...branches])];
  const kept = isBaseKept && base !== null ? keptBaseOf(base) : null;
  const patterns = ['HEAD', ...names.map((name) => `refs/heads/${name}`), ...(kept === null ? [] : [kept])];
  const asked = await listReferences(git, repo, patterns, signal);
  const found = base ?? branchOfHead(asked);
  if (found === null) throw await whyNoBase(git, question);
  const baseReference = kept ?? `refs/heads/${found}`;
  const commits = new Map<string, string>();
  for (const name of [found, ...names]) {
    const commit = asked.ids.get(`refs/heads/${name}`);
    if (commit !== undefined) commits.set(name, commit);
  }
  // The branch that HEAD names was not asked for by its name; HEAD is the same commit.
  const head = asked.ids.get('HEAD');
  if (base === null && head !== undefined) commits.set(found, head);
  const keptCommit = asked.ids.get(kept ?? '');
  if (keptCommit !== undefined) commits.set(found, keptCommit);
  const commit = commits.get(found);
  if (commit === undefined) throw await whyNoBase(git, question);
  return { objectFormat: commit.length === 64 ? 'sha256' : 'sha1', base: found, baseReference, commits };
}

async function listReferences(
  git: Git,
  repo: RepositorySettings,
  patterns: readonly string[],
  signal: AbortSignal | undefined,
): Promise<References> {
  const { url, secretSettings } = sourceAddress(repo);
  const { code, stdout, stderr } = await git.ask({
    args: ['ls-remote', '--symref', '--', url, ...patterns],
    gitDir: null,
    network: true,
    secretSettings,
    signal,
  });
  if (code !== 0) throw await whyUnreadable(repo, stderr);
  const ids = new Map<string, string>();
  let head: string | null = null;
  for (const line of Buffer.from(stdout, 'latin1').toString('utf8').split('\n')) {
    const [value = '', name = ''] = line.split('\t');
    if (name === 'HEAD' && value.startsWith('ref: ')) head = value.slice('ref: '.length);
    else if (/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(value)) ids.set(name, value);
  }
  return { ids, head };
}

/** Null where HEAD names a commit, or a branch that is not there yet. */
function branchOfHead({ ids, head }: References): string | null {
  return ids.has('HEAD') && head?.startsWith('refs/heads/') === true ? head.slice('refs/heads/'.length) : null;
}

/** Asks once more, for all references that can explain the user's intent. */
async function whyNoBase(git: Git, { repo, base, signal }: SourceQuestion): Promise<BatonError> {
  return missingBase(repo, base, await listReferences(git, repo, explainingReferences(base), signal));
}
