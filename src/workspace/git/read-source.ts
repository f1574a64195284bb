import type { RepositorySettings } from '../../core/settings.ts';
import type { Git } from './git.ts';
import type { ObjectFormat } from './lens.ts';
import { noSuchBase, sourceUnavailable } from './source-errors.ts';

/** What a source says of itself now. */
export interface SourceHeads {
  readonly objectFormat: ObjectFormat;
  /** The branch that new ones begin at. */
  readonly base: string;
  /** The commits of the base and of those wanted branches that are there. */
  readonly commits: ReadonlyMap<string, string>;
}

export interface SourceQuestion {
  readonly repo: RepositorySettings;
  /** Null: whatever its HEAD names. */
  readonly base: string | null;
  readonly branches: readonly string[];
  readonly signal?: AbortSignal;
}

/** Asks a source where its branches are; one call brings the base, the wanted branches, and the format of its objects. */
export async function readSource(git: Git, question: SourceQuestion): Promise<SourceHeads> {
  const { repo, base, branches, signal } = question;
  const names = [...new Set([...(base === null ? [] : [base]), ...branches])];
  const asked = await listReferences(git, repo, ['HEAD', ...names.map((name) => `refs/heads/${name}`)], signal);
  const found = base ?? headOf(repo, asked);
  const commits = new Map<string, string>();
  for (const name of [found, ...names]) {
    const commit = asked.ids.get(`refs/heads/${name}`);
    if (commit !== undefined) commits.set(name, commit);
  }
  // The branch that HEAD names was not asked for by its name; HEAD is the same commit.
  const head = asked.ids.get('HEAD');
  if (base === null && head !== undefined) commits.set(found, head);
  const commit = commits.get(found);
  if (commit === undefined) {
    const nextStep = 'Mend `workspace.base`, or make that branch in the repository.';
    throw noSuchBase(repo, `has no branch ${found}`, nextStep);
  }
  return { objectFormat: commit.length === 64 ? 'sha256' : 'sha1', base: found, commits };
}

interface References {
  readonly ids: ReadonlyMap<string, string>;
  /** The reference that HEAD names. */
  readonly head: string | null;
}

async function listReferences(
  git: Git,
  repo: RepositorySettings,
  patterns: readonly string[],
  signal: AbortSignal | undefined,
): Promise<References> {
  const { code, stdout, stderr } = await git.ask({
    args: ['ls-remote', '--symref', '--', repo.location, ...patterns],
    gitDir: null,
    network: true,
    ...(signal === undefined ? {} : { signal }),
  });
  if (code !== 0) throw sourceUnavailable(repo, stderr);
  const ids = new Map<string, string>();
  let head: string | null = null;
  for (const line of Buffer.from(stdout, 'latin1').toString('utf8').split('\n')) {
    const [value = '', name = ''] = line.split('\t');
    if (name === 'HEAD' && value.startsWith('ref: ')) head = value.slice('ref: '.length);
    else if (/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(value)) ids.set(name, value);
  }
  return { ids, head };
}

function headOf(repo: RepositorySettings, { ids, head }: References): string {
  const nextStep = 'Name the branch to begin at in `workspace.base`.';
  const name = head?.startsWith('refs/heads/') === true ? head.slice('refs/heads/'.length) : null;
  if (ids.has('HEAD') && name !== null) return name;
  if (ids.has('HEAD')) throw noSuchBase(repo, 'has no branch checked out: its HEAD names a commit', nextStep);
  throw noSuchBase(repo, 'has no commit in the branch that its HEAD names', nextStep);
}
