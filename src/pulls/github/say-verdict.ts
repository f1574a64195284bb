import * as z from 'zod';
import { BatonError } from '../../core/baton-error.ts';
import type { Github, GithubAsk } from '../../github/github.ts';
import type { GithubRepository } from '../../github/github-address.ts';
import type { PullHostParts } from '../pull-host.ts';
import type { HostVerdict } from '../pull-requests.ts';
import { ownMark } from './pull-record.ts';

interface SayParts extends Pick<PullHostParts, 'redactor'> {
  readonly repository: GithubRepository;
  readonly github: Github;
}

const ask: GithubAsk = { caller: { job: 'review', cause: 'poll' } };
const route = '/repos/{owner}/{repo}/pulls/{pull_number}/reviews';
const reviews = z.array(z.object({ id: z.number(), body: z.string().nullish() }));
const perPage = 100;
const mostPages = 20;

/**
 * The verdict as a review of the account of the token: a comment, unless it is to count. GitHub lets no account approve or
 * reject its own pull request; then it is a comment too. A mark in its body finds it again.
 */
export async function sayVerdict(
  { github, repository, redactor }: SayParts,
  number: number,
  { commit, verdict, key, text, counts }: HostVerdict,
): Promise<string> {
  const path = { owner: repository.owner, repo: repository.name, pull_number: number };
  const mark = `<!-- baton verdict ${key} -->`;
  for (let page = 1; page <= mostPages; page += 1) {
    const query = { per_page: perPage, page };
    const found = await github.rest({ method: 'GET', route, path, query, data: reviews, ask });
    const own = found.find(({ body }) => body?.includes(mark));
    if (own !== undefined) return String(own.id);
    if (found.length < perPage) break;
  }
  const say = async (event: 'COMMENT' | 'APPROVE' | 'REQUEST_CHANGES'): Promise<string> => {
    const body = { commit_id: commit, event, body: `${redactor.redact(text)}\n\n${ownMark}\n${mark}` };
    const { id } = await github.rest({ method: 'POST', route, path, body, data: z.object({ id: z.number() }), ask });
    return String(id);
  };
  if (!counts) return say('COMMENT');
  return say(verdict === 'approved' ? 'APPROVE' : 'REQUEST_CHANGES').catch((error: unknown) => {
    if (!(error instanceof BatonError) || error.code !== 'github_refused') throw error;
    return say('COMMENT');
  });
}
