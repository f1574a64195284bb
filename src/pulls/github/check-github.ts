import * as z from 'zod';
import { toBatonError } from '../../core/baton-error.ts';
import { type Finding, failed, failedBy, passed, warned } from '../../core/finding.ts';
import { harmlessLine } from '../../core/text/harmless-line.ts';
import type { Github, GithubAsk } from '../../github/github.ts';
import { type GithubRepository, githubAddress, repositoryOfUrl } from '../../github/github-address.ts';
import { githubProvider } from '../../github/github-provider.ts';
import { findCommonDirectory } from '../../workspace/git/source/source-repository.ts';
import type { DoctorQuestion, PullHostParts } from '../pull-host.ts';
import type { GithubBranches } from './github-branches.ts';

interface CheckParts extends Pick<PullHostParts, 'git' | 'remote' | 'repo' | 'review'> {
  readonly github: Github;
  readonly repository: GithubRepository;
  readonly branches: GithubBranches;
  readonly pushes: boolean;
}

const wholeRepository = z.object({
  default_branch: z.string(),
  archived: z.boolean(),
  private: z.boolean(),
  permissions: z.object({ push: z.boolean() }).optional(),
});
const rules = z.array(z.object({ type: z.string() }));
const baseBranch = z.object({ protected: z.boolean() });

const ask: GithubAsk = { caller: { job: 'doctor', cause: 'person' } };

/** Rules for the branch of a change that may refuse Baton's pushes. */
const stopsPushes = [
  ...['creation', 'update', 'required_signatures', 'required_linear_history', 'non_fast_forward'],
  ...['pull_request', 'required_status_checks', 'required_deployments', 'merge_queue', 'workflows', 'code_scanning'],
  ...['branch_name_pattern', 'commit_message_pattern', 'commit_author_email_pattern', 'committer_email_pattern'],
];

/**
 * Whether GitHub works as the workflow file says: the token is valid and has its scopes, the repository and its base are
 * there, and the rules of the repository let Baton push. Nothing is written.
 *
 * GitHub does not say what a fine-grained token may do, so each permission is tried with a request that cannot change
 * anything: the beginning of a push, and a pull request of the base into itself, which GitHub refuses as empty after it
 * has checked the permission. `permissions` of the repository are those of the person, not of the token.
 */
export async function checkGithub(parts: CheckParts, { base, branch }: DoctorQuestion): Promise<readonly Finding[]> {
  const { github, repository } = parts;
  const path = { owner: repository.owner, repo: repository.name };
  const name = `${repository.owner}/${repository.name}`;
  const findings: Finding[] = [];
  try {
    const call = { method: 'GET', route: '/repos/{owner}/{repo}', path, data: wholeRepository, ask } as const;
    const { data, headers } = await github.restAnswer(call);
    findings.push(checkToken(headers['x-oauth-scopes'], data));
    findings.push(checkRepository(name, data, parts.pushes), ...(await checkClone(parts, name)));
    await github.rest({ ...call, route: '/repos/{owner}/{repo}/pulls', query: { per_page: 1 }, data: z.unknown() });
    const into = base ?? data.default_branch;
    const found = await checkBase(parts, path, into);
    findings.push(found);
    if (parts.pushes) findings.push(await checkPush(parts, path, branch, into));
    if (headers['x-oauth-scopes'] === undefined && found.status === 'ok')
      findings.push(await checkPulls(parts, path, into), await checkChecks(parts, path, into));
  } catch (error) {
    findings.push(failedBy('github', error));
  }
  return findings;
}

/** Only a classic token announces scopes. */
function checkToken(scopes: string | undefined, { private: isPrivate }: z.infer<typeof wholeRepository>): Finding {
  if (scopes === undefined) return passed('github_token', 'GitHub accepts the token');
  const has = scopes.split(',').map((each) => each.trim());
  const enough = isPrivate ? ['repo'] : ['repo', 'public_repo'];
  if (enough.some((scope) => has.includes(scope)))
    return passed('github_token', harmlessLine(`GitHub accepts the token; its scopes: ${scopes}`));
  const message = harmlessLine(`the token has the scopes "${scopes}" and lacks ${enough.join(' or ')}`);
  return failed('github_token', message, `give the token the scope ${enough[0]}, or make a fine-grained token`, {
    code: 'missing_scope',
    scopes: has,
    needs: enough,
  });
}

function checkRepository(
  name: string,
  { archived, permissions }: z.infer<typeof wholeRepository>,
  pushes: boolean,
): Finding {
  const check = 'github_repository';
  if (archived)
    return failed(check, `${name} is archived`, 'set review.repository to a repository that takes changes', {
      code: 'archived',
    });
  if (pushes && permissions?.push === false)
    return failed(
      check,
      `the token may not push to ${name}`,
      'give the token write access to Contents, or set review.push: false',
      { code: 'no_write_access' },
    );
  return passed(check, name);
}

/** A clone of another repository would get the base of this one, and its changes would go there. */
async function checkClone({ git, repo, review }: CheckParts, name: string): Promise<readonly Finding[]> {
  const address = githubAddress(review.apiUrl);
  // That there is no repository is the result of another check.
  const common = repo.isLocal ? await findCommonDirectory(git, repo.location).catch(() => null) : null;
  if (address === null || common === null) return [];
  const args = ['config', '--file', `${common}/config`, '--get-regexp', '^remote\\..*\\.url$'];
  const { stdout } = await git.ask({ args, gitDir: null });
  const urls = stdout.split('\n').map((line) => line.slice(line.indexOf(' ') + 1));
  const found = urls.flatMap((url) => repositoryOfUrl(url, address) ?? []);
  const names = found.map(({ owner, name: own }) => `${owner}/${own}`);
  if (names.length === 0 || names.some((each) => each.toLowerCase() === name.toLowerCase())) return [];
  const message = harmlessLine(`${repo.shown} is a clone of ${names.join(', ')}, and review.repository is ${name}`);
  return [
    warned('github_repository', message, 'set workspace.repo and review.repository to the same repository', {
      code: 'another_repository',
      remotes: names,
    }),
  ];
}

async function checkBase(
  { github }: CheckParts,
  path: Readonly<Record<string, string>>,
  base: string,
): Promise<Finding> {
  const check = 'github_base';
  try {
    const route = '/repos/{owner}/{repo}/branches/{branch}';
    const found = await github.rest({ method: 'GET', route, path: { ...path, branch: base }, data: baseBranch, ask });
    const text = found.protected ? 'is protected: GitHub decides whether a merge is allowed' : 'is not protected';
    return passed(check, harmlessLine(`${base} ${text}`), { base, protected: found.protected });
  } catch (error) {
    if (toBatonError(error).code !== 'github_not_found') throw error;
    const message = harmlessLine(`the repository on GitHub has no branch ${base}`);
    return failed(check, message, 'set workspace.base to a branch of the repository on GitHub', {
      code: 'unknown_base',
      base,
    });
  }
}

async function checkPush(
  { github, branches, remote }: CheckParts,
  path: Readonly<Record<string, string>>,
  branch: string,
  base: string,
): Promise<Finding> {
  const check = 'github_push';
  await branches.tips([base]);
  const { url, authorization, token } = await branches.pushAddress();
  const request = {
    method: 'GET',
    url,
    route: 'git-receive-pack',
    headers: { authorization },
    caller: ask.caller,
  } as const;
  const { status } = await remote.client(githubProvider, token, false).send(request);
  if (status === 403)
    return failed(check, 'the token may not push', 'give the token the permission Contents (write)', {
      code: 'no_write_access',
    });
  const route = '/repos/{owner}/{repo}/rules/branches/{branch}';
  const found = await github.rest({ method: 'GET', route, path: { ...path, branch }, data: rules, ask });
  const stops = [...new Set(found.map(({ type }) => type))].filter((type) => stopsPushes.includes(type));
  if (stops.length === 0)
    return passed(check, harmlessLine(`git can reach GitHub; branches such as ${branch} are free`));
  const message = harmlessLine(
    `rules of the repository for branches such as ${branch} may refuse pushes: ${stops.join(', ')}`,
  );
  return warned(check, message, 'let the rules leave out the branches of workspace.branch, or let Baton bypass them', {
    code: 'protected_branches',
    rules: stops,
  });
}

/** Whether the token may write pull requests. */
async function checkPulls(
  { github }: CheckParts,
  path: Readonly<Record<string, string>>,
  base: string,
): Promise<Finding> {
  const check = 'github_pulls';
  const body = { title: 'baton doctor', head: base, base };
  const route = '/repos/{owner}/{repo}/pulls';
  try {
    await github.rest({ method: 'POST', route, path, body, data: z.unknown(), ask });
  } catch (thrown) {
    const error = toBatonError(thrown);
    if (error.code === 'github_forbidden')
      return failed(check, error.message, 'give the token the permission Pull requests (write)', {
        code: 'no_pull_request_access',
      });
    if (error.code !== 'github_refused') throw error;
  }
  return passed(check, 'the token may open pull requests');
}

/** Whether the token may read what the checks of a commit say. */
async function checkChecks(
  { github }: CheckParts,
  path: Readonly<Record<string, string>>,
  base: string,
): Promise<Finding> {
  const check = 'github_checks';
  const route = '/repos/{owner}/{repo}/commits/{ref}/check-runs';
  try {
    const query = { per_page: 1 };
    await github.rest({ method: 'GET', route, path: { ...path, ref: base }, query, data: z.unknown(), ask });
    return passed(check, 'the token may read checks');
  } catch (thrown) {
    if (toBatonError(thrown).code !== 'github_forbidden') throw thrown;
    return warned(
      check,
      'the token may not read checks: a red check sends no change back, and a merge needs --ignore-checks',
      'use the login of gh (`gh auth login`) or a classic token with the scope repo',
      { code: 'checks_unreadable' },
    );
  }
}
