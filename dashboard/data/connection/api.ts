import type { Command, CommandRequest } from '../../../src/client/schema/command.ts';
import { later, takeDaemonTime } from '../page/clock.ts';
import { askForToken, authorization } from './token.ts';

/** Why there is no answer: the daemon's own words, or that the daemon is away. */
export interface Problem {
  /** Zero when the daemon did not answer. */
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly nextStep: string | null;
}

export type Answer<T> = { readonly value: T } | { readonly problem: Problem };

export const apiRoot = '/api/v1';

/** The address of something in a project: `projectPath('demo', 'issues', 'BAT-1')`. */
export function projectPath(project: string, ...parts: readonly string[]): string {
  return [`${apiRoot}/projects`, ...[project, ...parts].map(encodeURIComponent)].join('/');
}

/** Reads one address. The schemas of the server define `T`; it returns nothing else. */
export function read<T>(path: string, signal?: AbortSignal): Promise<Answer<T>> {
  return request<T>(path, { ...(signal === undefined ? {} : { signal }) });
}

/** Asks for a command. One that was refused is a problem like any other, with the reason in words. */
export async function command(
  project: string,
  asked: CommandRequest & { readonly key: string },
): Promise<Answer<Command>> {
  const answer = await request<{ readonly command: Command }>(projectPath(project, 'commands'), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(asked),
  });
  return 'problem' in answer ? answer : { value: answer.value.command };
}

/** The page stops waiting for an answer after this time; the daemon answers "waiting" sooner. */
const longestAnswerMs = 30_000;
const underWay = new Set<AbortController>();

/** The daemon hangs: the page stops waiting for its answers. */
export function giveUpRequests(): void {
  for (const each of underWay) each.abort();
}

async function request<T>(path: string, init: RequestInit): Promise<Answer<T>> {
  const over = new AbortController();
  const cancel = later(longestAnswerMs, () => over.abort());
  underWay.add(over);
  try {
    const signal = AbortSignal.any([over.signal, ...(init.signal ? [init.signal] : [])]);
    const response = await fetch(path, { ...init, signal, headers: { ...init.headers, ...authorization() } });
    takeDaemonTime(response.headers.get('date'));
    if (!response.ok) return { problem: await problemOf(response) };
    return { value: (await response.json()) as T };
  } catch (error) {
    return { problem: { status: 0, code: 'away', message: 'The daemon does not answer.', nextStep: whyAway(error) } };
  } finally {
    cancel();
    underWay.delete(over);
  }
}

function whyAway(error: unknown): string | null {
  return error instanceof SyntaxError ? 'The program at this address is not Baton.' : null;
}

/** The problem that a refusal describes. Also used by the stream. */
export async function problemOf(response: Response): Promise<Problem> {
  if (response.status === 401) askForToken();
  const body: unknown = await response.json().catch(() => null);
  const error = field(body, 'error');
  const message = field(error, 'message');
  const code = field(error, 'code');
  const nextStep = field(error, 'next_step');
  return {
    status: response.status,
    code: typeof code === 'string' ? code : `http_${response.status}`,
    message: typeof message === 'string' ? message : `The daemon answered ${response.status}.`,
    nextStep: typeof nextStep === 'string' ? nextStep : null,
  };
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}
