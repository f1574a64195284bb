import type * as z from 'zod';
import type { Clock } from '../clock/clock.ts';
import { BatonError, toBatonError } from '../core/baton-error.ts';
import type { RequestCaller } from '../core/requests/request-caller.ts';
import { noPressure, type RequestPressure } from '../core/requests/request-pressure.ts';
import { harmlessLine } from '../core/text/harmless-line.ts';
import { parseJson } from '../core/text/parse-json.ts';
import type { Secret } from '../core/text/secret.ts';
import type { HttpAnswer, HttpClient, HttpRequest } from '../http/http.ts';
import type { GithubAddress } from './github-address.ts';
import { githubErrors } from './github-errors.ts';
import { githubProvider } from './github-provider.ts';

/**
 * Where the credential comes from: a token now, an installation of an App later. It is read for each request, so that one
 * that ends is replaced.
 */
export interface GithubCredential {
  token(): Promise<Secret>;
  /** GitHub did not accept it: read it again before the next request. */
  refused(): void;
}

export interface GithubParts {
  readonly address: GithubAddress;
  readonly credential: GithubCredential;
  /** The metered client for a token. */
  readonly clientFor: (token: Secret) => HttpClient;
  readonly clock: Clock;
}

/** A route of the REST API, as its documentation writes it: `/repos/{owner}/{repo}/pulls`. */
export interface RestCall<Data> {
  readonly method: HttpRequest['method'];
  readonly route: string;
  readonly path?: Readonly<Record<string, string | number>>;
  readonly query?: Readonly<Record<string, string | number>>;
  readonly body?: Readonly<Record<string, unknown>>;
  readonly data: z.ZodType<Data>;
  readonly ask: GithubAsk;
}

export interface GraphqlCall<Data> {
  /** The name of the operation, under which it is counted. */
  readonly name: string;
  readonly text: string;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly data: z.ZodType<Data>;
  readonly ask: GithubAsk;
  /**
   * Called with the errors of an answer that has data all the same: what they are about is null there. Without it any
   * error rejects.
   */
  readonly onPartial?: (errors: readonly GraphqlError[]) => void;
}

export interface GithubAsk {
  readonly caller: RequestCaller;
  readonly signal?: AbortSignal | undefined;
}

/**
 * The one client for GitHub. A call sends one request and never repeats it. It resolves with the data in the wanted form;
 * everything else rejects with one of `githubErrors`, whose details have the status and GitHub's words. A GET is
 * conditional: where nothing changed, GitHub answers 304, which does not count against its limit. No error contains the
 * credential.
 */
export interface Github {
  rest<Data>(call: RestCall<Data>): Promise<Data>;
  /** The headers of an answer too. */
  restAnswer<Data>(call: RestCall<Data>): Promise<{ readonly data: Data; readonly headers: HttpAnswer['headers'] }>;
  graphql<Data>(call: GraphqlCall<Data>): Promise<Data>;
  /** How short requests are, of the credential used last. */
  pressure(): RequestPressure;
}

export function createGithub({ address, credential, clientFor, clock }: GithubParts): Github {
  let client: HttpClient | null = null;
  let known: Secret | null = null;

  const send = async (
    name: string,
    request: Omit<HttpRequest, 'headers' | 'caller'>,
    { caller, signal }: GithubAsk,
  ) => {
    signal?.throwIfAborted();
    const token = await credential.token();
    if (client === null || known?.reveal() !== token.reveal()) client = clientFor(token);
    known = token;
    const headers = {
      authorization: `Bearer ${token.reveal()}`,
      accept: 'application/vnd.github+json',
      'x-github-api-version': '2022-11-28',
      ...(request.body === undefined ? {} : { 'content-type': 'application/json' }),
    };
    const whole = { ...request, headers, caller, ...(signal === undefined ? {} : { signal }) };
    const answer = await client.send(whole).catch((thrown: unknown) => {
      throw signal?.aborted === true ? thrown : noAnswer(name, thrown);
    });
    const refused = whyRefused(name, answer, clock.now(), token.reveal());
    if (refused === null) return answer;
    if (refused.code === 'github_auth') credential.refused();
    throw refused;
  };

  const restAnswer: Github['restAnswer'] = async ({ method, route, path = {}, query = {}, body, data, ask }) => {
    const filled = route.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => encodeURIComponent(String(path[name])));
    const asked = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)])).toString();
    const url = `${address.rest}${filled}${asked === '' ? '' : `?${asked}`}`;
    const name = `${method} ${route}`;
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const answer = await send(name, { method, url, route, ...sent }, ask);
    return {
      data: readData(name, answer.body === '' ? null : parsed(name, answer.body), data),
      headers: answer.headers,
    };
  };

  return {
    restAnswer,
    rest: async (call) => (await restAnswer(call)).data,
    graphql: async ({ name, text, variables, data, ask, onPartial }) => {
      const body = JSON.stringify({ operationName: name, query: text, variables });
      const answer = await send(name, { method: 'POST', url: address.graphql, route: name, body }, ask);
      const said = parsed(name, answer.body);
      const errors = errorsIn(said);
      const [first] = errors;
      const given = isMap(said) ? said.data : null;
      if (first === undefined) return readData(name, given, data);
      const read = onPartial === undefined ? null : data.safeParse(given);
      if (read?.success !== true) throw graphqlRefusal(name, first);
      onPartial?.(errors);
      return read.data;
    },
    pressure: () => client?.pressure() ?? noPressure,
  };
}

const longestShown = 500;

function noAnswer(name: string, thrown: unknown): BatonError {
  const cause = toBatonError(thrown, 'request_failed');
  const details = { ...cause.details, operation: name };
  if (cause.code === 'request_limited')
    return new BatonError(githubErrors.github_rate_limited, `Baton did not send ${name} to GitHub: ${cause.message}`, {
      cause,
      details,
    });
  if (cause.code === 'insecure_endpoint') return cause;
  return new BatonError(githubErrors.github_unreachable, `GitHub did not answer ${name}: ${cause.message}`, {
    cause,
    details,
  });
}

function whyRefused(name: string, answer: HttpAnswer, now: number, token: string): BatonError | null {
  const { status, headers } = answer;
  const limited = githubProvider.refusal(answer, now);
  const said = wordsOf(answer.body, token);
  const details = { operation: name, status, said };
  const refuse = (code: keyof typeof githubErrors, message: string, more: Readonly<Record<string, unknown>> = {}) =>
    new BatonError(githubErrors[code], message, { details: { ...details, ...more } });
  if (limited !== null)
    return refuse('github_rate_limited', `GitHub refused ${name}: too many requests. ${said}`, {
      until: limited.until,
    });
  if ((status >= 200 && status < 300) || status === 304) return null;
  if (status === 401) return refuse('github_auth', `GitHub does not accept the token for ${name}: ${said}`);
  const sso = /\burl=(https:\/\/\S+)/.exec(headers['x-github-sso'] ?? '')?.[1];
  if (status === 403 && headers['x-github-sso'] !== undefined)
    return refuse(
      'github_sso',
      `The organisation wants the token to be authorised (SSO): ${harmlessLine(sso ?? said)}`,
      {
        url: sso ?? null,
      },
    );
  if (status === 403) {
    const wanted = headers['x-accepted-github-permissions'] ?? headers['x-accepted-oauth-scopes'] ?? '';
    const why = wanted === '' ? said : `${said.replace(/\.$/, '')}. It needs: ${harmlessLine(wanted)}.`;
    return refuse('github_forbidden', `The token may not do ${name}: ${why}`, { needs: harmlessLine(wanted) });
  }
  if (status === 404) return refuse('github_not_found', `GitHub has nothing for ${name}: ${said}`);
  if (status >= 300 && status < 400)
    return refuse('github_moved', `GitHub says that the repository of ${name} has moved.`, {
      location: harmlessLine(headers.location ?? ''),
    });
  if (status < 500) return refuse('github_refused', `GitHub refused ${name} (status ${status}): ${said}`);
  return refuse('github_status', `GitHub answered ${name} with status ${status}: ${said}`);
}

/** The message of an answer and those of its errors, in one line. */
function wordsOf(body: string, token: string): string {
  let said: unknown = null;
  try {
    said = parseJson(body);
  } catch {
    // A proxy answered with a page.
  }
  const { message = '', errors = [] } = isMap(said) ? said : {};
  const more = (Array.isArray(errors) ? errors : []).map((each) => (isMap(each) ? (each.message ?? each.code) : each));
  const words = [message, ...more].filter((each) => typeof each === 'string' && each !== '').join('; ');
  return harmlessLine((words === '' ? body : words).replaceAll(token, '[secret]')).slice(0, longestShown);
}

export interface GraphqlError {
  readonly type: string;
  readonly message: string;
}

function errorsIn(said: unknown): readonly GraphqlError[] {
  const errors = isMap(said) && Array.isArray(said.errors) ? said.errors : [];
  return errors.map((each) => {
    const { type, message } = isMap(each) ? each : {};
    return {
      type: typeof type === 'string' ? type : '',
      message: harmlessLine(typeof message === 'string' ? message : '').slice(0, longestShown),
    };
  });
}

function graphqlRefusal(name: string, { type, message }: GraphqlError): BatonError {
  const details = { operation: name, status: 200, said: message, type };
  const code =
    type === 'NOT_FOUND' ? 'github_not_found' : type === 'FORBIDDEN' ? 'github_forbidden' : 'github_response';
  const isSso = type === 'FORBIDDEN' && /\bSAML\b/i.test(message);
  return new BatonError(
    githubErrors[isSso ? 'github_sso' : code],
    `GitHub answered ${name} with an error: ${message}`,
    {
      details,
    },
  );
}

function parsed(name: string, body: string): unknown {
  try {
    return parseJson(body);
  } catch (cause) {
    throw new BatonError(githubErrors.github_response, `GitHub sent an answer to ${name} that is no JSON.`, { cause });
  }
}

function readData<Data>(name: string, said: unknown, data: z.ZodType<Data>): Data {
  const read = data.safeParse(said);
  if (read.success) return read.data;
  const at = read.error.issues[0]?.path.join('.') ?? '';
  throw new BatonError(
    githubErrors.github_response,
    `GitHub sent an answer to ${name} in an unexpected form (${at}).`,
    {
      details: { operation: name, at },
    },
  );
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
