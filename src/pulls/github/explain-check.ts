import * as z from 'zod';
import { BatonError } from '../../core/baton-error.ts';
import { harmlessLine, harmlessLines } from '../../core/text/harmless-line.ts';
import type { Github, GithubAsk } from '../../github/github.ts';
import type { GithubRepository } from '../../github/github-address.ts';
import type { HttpProvider } from '../../http/http.ts';
import type { PullHostParts } from '../pull-host.ts';
import type { CheckExplanation, HostCheck } from '../pull-requests.ts';

interface ExplainParts extends Pick<PullHostParts, 'remote' | 'redactor'> {
  readonly repository: GithubRepository;
  readonly github: Github;
}

const job = z.object({
  steps: z.array(z.object({ name: z.string(), conclusion: z.string().nullish() })).nullish(),
});

const ask: GithubAsk = { caller: { job: 'pull_requests', cause: 'poll' } };
const route = '/repos/{owner}/{repo}/actions/jobs/{job_id}';

/** How much of the end of a log the agent gets. */
const longestLog = 8_000;

/** GitHub keeps logs at another service, which gets no credential. */
const logService: HttpProvider = { name: 'github_logs', announced: () => [], refusal: () => null };

/**
 * The failed step of a job of GitHub Actions and the end of its log. Null for a check of another program, and where GitHub
 * does not give it: the name of the check alone still goes to the agent.
 */
export async function explainCheck(parts: ExplainParts, { id }: HostCheck): Promise<CheckExplanation | null> {
  const { github, repository, redactor } = parts;
  if (id === null) return null;
  const path = { owner: repository.owner, repo: repository.name, job_id: id };
  try {
    const { steps } = await github.rest({ method: 'GET', route, path, data: job, ask });
    const step = steps?.find(({ conclusion }) => conclusion === 'failure' || conclusion === 'timed_out')?.name ?? null;
    const log = await readLog(parts, path).catch(() => '');
    const said = redactor.redact(harmlessLines(plainLog(log)));
    return { step: step === null ? null : harmlessLine(step).slice(0, 200), output: said.slice(-longestLog).trim() };
  } catch (error) {
    if (error instanceof BatonError) return null;
    throw error;
  }
}

/** GitHub answers with the address of the log, which is valid for a minute. */
async function readLog({ github, remote }: ExplainParts, path: Readonly<Record<string, string | number>>) {
  const asked = { method: 'GET', route: `${route}/logs`, path, data: z.unknown(), ask } as const;
  const url = await github.rest(asked).then(
    () => '',
    (error: unknown) => (error instanceof BatonError ? String(error.details.location ?? '') : ''),
  );
  if (url === '') return '';
  const request = { method: 'GET', url, route: 'job log', headers: {}, caller: ask.caller } as const;
  const { status, body } = await remote.client(logService, null, false).send(request);
  return status === 200 ? body : '';
}

/** Without times, colours and other sequences for terminals. */
function plainLog(log: string): string {
  return (
    log
      .replaceAll('\r\n', '\n')
      .replaceAll(/^\uFEFF?\d{4}-\d\d-\d\dT[\d:.]+Z ?/gm, '')
      // biome-ignore lint/suspicious/noControlCharactersInRegex: it removes them
      .replaceAll(/\u001B(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001B]*(?:\u0007|\u001B\\)?|[@-Z\\-_])/g, '')
      // biome-ignore lint/suspicious/noControlCharactersInRegex: it removes them
      .replaceAll(/[\u0000-\u0008\u000B-\u001F\u007F]/g, '')
  );
}
