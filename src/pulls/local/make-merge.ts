import type { MergeMethod, PullRequest } from '../../core/pull/pull-request.ts';
import type { MergeRefusal } from '../pull-requests.ts';
import type { Identity } from './person-identity.ts';
import { forkOf, isAncestor, linesOf, mergeTrees, type Workbench } from './workbench.ts';

export interface MergePlan {
  readonly pull: Pick<PullRequest, 'identifier' | 'title' | 'body' | 'number'>;
  readonly base: string;
  readonly head: string;
  readonly method: MergeMethod;
  readonly identity: Identity;
  /** When, in UTC milliseconds. */
  readonly at: number;
}

/** A branch with more commits than this is not rebased. */
const mostCommits = 500;

type Made = { readonly commit: string } | { readonly refusal: MergeRefusal };

/** Makes the commits of a merge in the workbench; returns the one that the base is to become. The same plan makes the same. */
export function makeMerge(bench: Workbench, plan: MergePlan): Promise<Made> {
  return plan.method === 'rebase' ? rebase(bench, plan) : mergeAtOnce(bench, plan);
}

async function mergeAtOnce(bench: Workbench, plan: MergePlan): Promise<Made> {
  const { base, head, method, pull } = plan;
  const merged = await mergeTrees(bench, base, head);
  if (merged === null) return { refusal: { code: 'unrelated' } };
  if ('conflicts' in merged) return { refusal: { code: 'conflict', files: merged.conflicts } };
  const subject = `${pull.identifier}: ${oneLine(pull.title)}`;
  const [parents, message] =
    method === 'merge'
      ? [[base, head], `Merge ${subject}\n\nPull request ${pull.number} of Baton.\n`]
      : [
          [base],
          `${subject}\n\n${pull.body.trim() === '' ? '' : `${pull.body.trim()}\n\n`}Pull request ${pull.number} of Baton.\n`,
        ];
  const person = signature(plan);
  const text = {
    tree: merged.tree,
    parents,
    author: person,
    committer: person,
    encoding: null,
    message: bytesOf(message),
  };
  return { commit: await writeCommit(bench, text) };
}

/** Each commit of the branch on top of the base, with its author; merges are left out, and commits that change nothing. */
async function rebase(bench: Workbench, plan: MergePlan): Promise<Made> {
  const { base, head } = plan;
  const range = ['--reverse', '--topo-order', '--no-merges', `--max-count=${mostCommits + 1}`, head, `^${base}`, '--'];
  // `--reverse` is applied after the limit, so one more than the limit is enough to notice.
  const commits = linesOf(await bench.run(['rev-list', ...range]));
  if (commits.length > mostCommits)
    return { refusal: { code: 'protected', reason: `more than ${mostCommits} commits` } };
  const hasMerges = (await bench.run(['rev-list', '--merges', '--max-count=1', head, `^${base}`, '--'])) !== '';
  if (!hasMerges && (await isAncestor(bench, base, head))) return { commit: head };
  if ((await forkOf(bench, base, head)) === null) return { refusal: { code: 'unrelated' } };
  let onto = base;
  for (const each of commits) {
    const next = await replay(bench, each, onto, plan);
    if ('refusal' in next) return next;
    onto = next.commit;
  }
  return { commit: onto };
}

/**
 * One commit on top of another. Git before 2.40 takes no merge base as an argument, so it gets a commit of no further use:
 * the new parent's files with the old parent as its parent.
 */
async function replay(bench: Workbench, commit: string, onto: string, plan: MergePlan): Promise<Made> {
  const original = readCommit(await bench.run(['cat-file', 'commit', commit]));
  const tree = (await bench.run(['rev-parse', `${onto}^{tree}`])).trim();
  const merged = await mergeTrees(bench, await standIn(bench, tree, original.parents), commit);
  if (merged === null) return { refusal: { code: 'unrelated' } };
  if ('conflicts' in merged) return { refusal: { code: 'conflict', files: merged.conflicts } };
  if (merged.tree === tree) return { commit: onto };
  const { author, encoding, message } = original;
  const text = { tree: merged.tree, parents: [onto], author, committer: signature(plan), encoding, message };
  return { commit: await writeCommit(bench, text) };
}

/** A commit of no further use, for git commands that take no tree. */
export function standIn(bench: Workbench, tree: string, parents: readonly string[]): Promise<string> {
  const by = 'Baton <baton@localhost.invalid> 0 +0000';
  return writeCommit(bench, { tree, parents, author: by, committer: by, encoding: null, message: '' });
}

/** A commit; texts have one character per byte. */
interface CommitText {
  readonly tree: string;
  readonly parents: readonly string[];
  readonly author: string;
  readonly committer: string;
  readonly encoding: string | null;
  readonly message: string;
}

/** Written as an object, because `git commit-tree` takes an author only from its environment. Nothing is signed. */
async function writeCommit(bench: Workbench, commit: CommitText): Promise<string> {
  const { tree, parents, author, committer, encoding, message } = commit;
  const headers = [
    `tree ${tree}`,
    ...parents.map((parent) => `parent ${parent}`),
    `author ${author}`,
    `committer ${committer}`,
    ...(encoding === null ? [] : [`encoding ${encoding}`]),
  ];
  const stdin = Buffer.from(`${headers.join('\n')}\n\n${message}`, 'latin1');
  return (await bench.run(['hash-object', '-t', 'commit', '-w', '--stdin'], { stdin })).trim();
}

function readCommit(raw: string): CommitText {
  const end = raw.indexOf('\n\n');
  const lines = (end === -1 ? raw : raw.slice(0, end)).split('\n');
  const valuesOf = (name: string): string[] =>
    lines.filter((line) => line.startsWith(`${name} `)).map((line) => line.slice(name.length + 1));
  const [author = '', committer = ''] = [valuesOf('author')[0], valuesOf('committer')[0]];
  return {
    tree: valuesOf('tree')[0] ?? '',
    parents: valuesOf('parent'),
    author,
    committer,
    encoding: valuesOf('encoding')[0] ?? null,
    message: end === -1 ? '' : raw.slice(end + 2),
  };
}

function signature({ identity: { name, email }, at }: MergePlan): string {
  return bytesOf(`${name} <${email}> ${Math.floor(at / 1000)} +0000`);
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}

function bytesOf(text: string): string {
  return Buffer.from(text.replaceAll('\0', '')).toString('latin1');
}
