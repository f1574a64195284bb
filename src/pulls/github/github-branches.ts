import { BatonError } from '../../core/baton-error.ts';
import { harmlessLine } from '../../core/text/harmless-line.ts';
import type { Secret } from '../../core/text/secret.ts';
import type { GithubCredential } from '../../github/github.ts';
import type { GithubAddress, GithubRepository } from '../../github/github-address.ts';
import { githubErrors } from '../../github/github-errors.ts';
import { type Git, type GitAnswer, type GitCall, quietFetch } from '../../workspace/git/git.ts';
import { isAncestor, type Workbench } from '../local/workbench.ts';
import { githubHostErrors } from './github-host-errors.ts';

/**
 * The branches of a repository on GitHub, over HTTPS. What must hold:
 *
 * - The token is in no argument, file or configuration: only in the environment of git, and only the configuration of
 *   Baton's own repository counts, so no rewritten address takes it elsewhere.
 * - A branch is created, moved forward, or moved from a head that a run of Baton proposed; each time only while it is
 *   where it was seen. Commits of others are never replaced. No branch is deleted. The base is never pushed.
 */
export interface GithubBranches {
  /** The commits of those branches that are there. */
  tips(branches: readonly string[], signal?: AbortSignal): Promise<ReadonlyMap<string, string>>;
  /** The branch that GitHub shows first. */
  defaultBranch(signal?: AbortSignal): Promise<string>;
  /** Brings commits with their history into the workbench. */
  fetch(bench: Workbench, commits: readonly string[]): Promise<void>;
  push(bench: Workbench, move: BranchMove): Promise<void>;
  /** The address at which a push begins, which answers 200 to an account that may push, and the credential for it. */
  pushAddress(): Promise<{ readonly url: string; readonly authorization: string; readonly token: Secret }>;
}

export interface BranchMove {
  readonly branch: string;
  readonly commit: string;
  /** Where it is now; null: it is not there. The workbench has this commit. */
  readonly from: string | null;
  /** Heads that may be replaced. */
  readonly earlierHeads: readonly string[];
}

export interface GithubBranchesParts {
  readonly git: Git;
  readonly address: GithubAddress;
  readonly repository: GithubRepository;
  readonly credential: GithubCredential;
}

const pushMs = 300_000;

export function githubBranches({ git, address, repository, credential }: GithubBranchesParts): GithubBranches {
  const url = `${address.web}/${repository.owner}/${repository.name}.git`;
  const basicOf = (token: Secret): string =>
    `Basic ${Buffer.from(`x-access-token:${token.reveal()}`).toString('base64')}`;
  const network = async (): Promise<Pick<GitCall, 'network' | 'secretSettings' | 'timeoutMs'>> => {
    const basic = basicOf(await credential.token());
    const secretSettings = [[`http.${address.web}/.extraHeader`, `Authorization: ${basic}`]] as const;
    return { network: 'own', secretSettings, timeoutMs: pushMs };
  };
  const failed = (what: string, answer: GitAnswer): BatonError => {
    const error = whyFailed(what, answer.stderr);
    if (error.code === 'github_auth') credential.refused();
    return error;
  };
  return {
    pushAddress: async () => {
      const token = await credential.token();
      return { url: `${url}/info/refs?service=git-receive-pack`, authorization: basicOf(token), token };
    },
    tips: async (branches, signal) => {
      const names = [...new Set(branches)].map((branch) => `refs/heads/${branch}`);
      const args = ['ls-remote', '--', url, ...names];
      const answer = await git.ask({ args, gitDir: null, ...(await network()), signal });
      if (answer.code !== 0) throw failed('Reading the branches', answer);
      const lines = Buffer.from(answer.stdout, 'latin1').toString('utf8').split('\n');
      const found = lines.map((line) => line.split('\t')).filter(([, name = '']) => names.includes(name));
      return new Map(found.map(([id = '', name = '']) => [name.slice('refs/heads/'.length), id]));
    },
    defaultBranch: async (signal) => {
      const args = ['ls-remote', '--symref', '--', url, 'HEAD'];
      const answer = await git.ask({ args, gitDir: null, ...(await network()), signal });
      if (answer.code !== 0) throw failed('Reading the branches', answer);
      const name = /^ref: refs\/heads\/(.+)\tHEAD$/m.exec(Buffer.from(answer.stdout, 'latin1').toString('utf8'))?.[1];
      if (name === undefined)
        throw new BatonError('change_missing', 'The repository on GitHub has no commit.', {
          details: { branch: null },
        });
      return name;
    },
    fetch: async (bench, commits) => {
      const args = [...quietFetch, '--', url, ...new Set(commits)];
      const answer = await bench.ask(args, await network());
      if (answer.code !== 0) throw failed('Fetching commits', answer);
    },
    push: async (bench, { branch, commit, from, earlierHeads }) => {
      if (from !== null && !earlierHeads.includes(from) && !(await isAncestor(bench, from, commit)))
        throw movedByOthers(
          `On GitHub, ${branch} is at ${from}, with commits of someone else that the agent's branch lacks.`,
          {
            branch,
            commit,
            found: from,
          },
        );
      const reference = `refs/heads/${branch}`;
      const lease = `--force-with-lease=${reference}:${from ?? ''}`;
      const args = ['push', '--porcelain', '--no-verify', '--no-signed', lease, '--', url, `${commit}:${reference}`];
      const answer = await bench.ask(args, await network());
      if (answer.code === 0) return;
      const line = answer.stdout.split('\n').find((each) => each.startsWith('!'));
      if (line === undefined) throw failed(`Pushing ${branch}`, answer);
      const said = harmlessLine(Buffer.from(line, 'latin1').toString('utf8').split('\t').at(-1) ?? '').slice(0, 500);
      const remarks = harmlessLine(answer.stderr.replaceAll(/^remote:\s*/gm, '').trim()).slice(0, 1_000);
      if (/stale info|fetch first|non-fast-forward/.test(said))
        throw movedByOthers(`Someone else moved ${branch} on GitHub a moment ago: ${said}.`, { branch, commit });
      throw new BatonError(
        githubHostErrors.github_push_refused,
        `GitHub refused the push to ${branch}: ${said}. ${remarks}`,
        { details: { branch, commit, said, remarks } },
      );
    },
  };
}

/** Nothing of theirs is lost, and nothing that Baton repeats would help. */
export function movedByOthers(message: string, details: Readonly<Record<string, unknown>>): BatonError {
  const nextStep =
    'Retry the issue with a note that the agent must build on the commits on GitHub. If they belong to another project of Baton, set `workspace.branch`.';
  return new BatonError('change_not_published', message, { details, nextStep });
}

/** Git reports an answer of the host only in words. */
const words: readonly (readonly [RegExp, keyof typeof githubErrors])[] = [
  [/Authentication failed|could not read Username|Invalid username or (?:password|token)|error: 401/i, 'github_auth'],
  [/SAML SSO/i, 'github_sso'],
  [/error: 403|Permission to \S+ denied|Write access to repository not granted/i, 'github_forbidden'],
  [/Repository not found|repository '[^']*' not found|error: 404/i, 'github_not_found'],
  [/redirection|error: 30[1278]/i, 'github_moved'],
  [/error: 429/i, 'github_rate_limited'],
];

function whyFailed(what: string, stderr: string): BatonError {
  const said = harmlessLine(stderr.trim().slice(-1_000));
  const code = words.find(([pattern]) => pattern.test(stderr))?.[1] ?? 'github_unreachable';
  return new BatonError(githubErrors[code], `${what} on GitHub failed: ${said}`, { details: { said } });
}
