import type { Command, CommandRequest } from '../../client/schema/command.ts';
import type { IssueDetail } from '../../client/schema/issue.ts';
import type { Now } from '../../client/schema/now.ts';
import type { RunEvent } from '../../client/schema/run.ts';
import type { Project } from '../../client/schema/system.ts';
import { systemClock } from '../../clock/system-clock.ts';
import { BatonError } from '../../core/baton-error.ts';
import type { TopSource } from './top-source.ts';

export interface HttpSourceOptions {
  /** The address of the API, which may change when the daemon restarts. Null when none answers. */
  readonly address: () => Promise<string | null>;
  /** The token, if the API needs one. */
  readonly token: string | null;
  readonly log?: () => readonly string[];
}

/** A daemon on this machine that does not answer within this time counts as gone. */
const answerMs = 10_000;
/** A little longer than the daemon itself waits for an answer. */
const commandMs = 20_000;
const lastEvents = 50;

/** The terminal view over the API of a daemon, as any other program sees it. */
export function httpSource({ address, token, log = () => [] }: HttpSourceOptions): TopSource {
  let known: string | null = null;
  const ask = async (path: string, body?: unknown): Promise<Response> => {
    const url = known ?? (await address());
    known = url;
    if (url === null)
      throw new BatonError(
        'daemon_unreachable',
        'No daemon answers here; `--workflow` and `--state-dir` name another.',
      );
    const over = new AbortController();
    const timer = systemClock.schedule(body === undefined ? answerMs : commandMs, () => over.abort());
    try {
      return await fetch(`${url}/api/v1${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        signal: over.signal,
        headers: {
          ...(token === null ? {} : { authorization: `Bearer ${token}` }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
    } catch (cause) {
      known = null;
      throw new BatonError('daemon_unreachable', 'The daemon does not answer.', { cause });
    } finally {
      timer.cancel();
    }
  };
  const read = async <T>(path: string): Promise<T> => {
    const answer = await ask(path);
    const json: unknown = await answer.json();
    if (isRefusal(answer)) throw new BatonError('token_needed', tokenWords('read', token));
    if (!answer.ok) throw new BatonError('daemon_unreachable', messageIn(json));
    return json as T;
  };
  return {
    get address() {
      return known;
    },
    now: async () => {
      const { projects } = await read<{ readonly projects: readonly Project[] }>('/projects');
      return Promise.all(projects.map(({ name }) => read<Now>(`/projects/${encodeURIComponent(name)}`)));
    },
    issue: (project, issue) =>
      read<IssueDetail>(`/projects/${encodeURIComponent(project)}/issues/${encodeURIComponent(issue)}`),
    events: async (project, run) => {
      const path = `/projects/${encodeURIComponent(project)}/runs/${encodeURIComponent(run)}/events`;
      const { events } = await read<{ readonly events: readonly RunEvent[] }>(
        `${path}?direction=backwards&limit=${lastEvents}`,
      );
      return events.toSorted((left, right) => left.seq - right.seq);
    },
    log,
    submit: async (project, request: CommandRequest) => {
      const answer = await ask(`/projects/${encodeURIComponent(project)}/commands`, request);
      const json: unknown = await answer.json();
      if (isRefusal(answer)) return { status: 'refused', text: tokenWords('operate', token) };
      if (!answer.ok) return { status: 'refused', text: messageIn(json) };
      const { command } = json as { readonly command: Command };
      return { status: command.status, text: command.text };
    },
  };
}

function isRefusal({ status }: Response): boolean {
  return status === 401 || status === 403;
}

function tokenWords(scope: 'read' | 'operate', token: string | null): string {
  const make = `\`baton token create --scope ${scope}\` makes one`;
  if (token === null) return `It wants a token in BATON_TOKEN: ${make}.`;
  return scope === 'read' ? `It does not know the token in BATON_TOKEN: ${make}.` : `It wants another token: ${make}.`;
}

function messageIn(json: unknown): string {
  const { error } = (json ?? {}) as { readonly error?: { readonly message?: string } };
  return error?.message ?? 'The daemon gave no reason.';
}
