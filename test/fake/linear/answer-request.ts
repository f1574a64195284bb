import {
  type ExecutionResult,
  type FragmentDefinitionNode,
  type GraphQLError,
  Kind,
  type OperationDefinitionNode,
} from 'graphql';
import { complexityOf } from './complexity.ts';
import { type Execution, executeDocument } from './execute-document.ts';
import { linearError } from './failures.ts';
import { type Fault, type Faults, takeFault } from './faults.ts';
import { checkDocument, linearSchema } from './linear-schema.ts';
import type { CursorKind } from './page.ts';
import type { RateMeter } from './rate-limits.ts';
import type { Workspace } from './workspace.ts';

export interface FakeRequest {
  readonly method: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface FakeAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** How much of the answer gets through; the transport applies it. */
  readonly cut: 'refused' | 'before_head' | 'in_body' | null;
}

/** A request as it arrived, without its key. */
export interface LoggedRequest {
  readonly at: number;
  /** Null: it was not GraphQL, or its operation has no name. */
  readonly operation: string | null;
  readonly document: string;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;
  /** Null until it is answered. */
  status: number | null;
  /** Null when it was not computed, because something was wrong before. */
  complexity: number | null;
}

export interface Desk {
  readonly workspace: Workspace;
  readonly faults: Faults;
  readonly meter: RateMeter;
  readonly keys: { readonly apiKey: string; readonly oauthToken: string };
  readonly cursors: CursorKind;
  readonly now: () => number;
  /** Requests that the fake does not model; a test with an entry here did not test what it meant to. */
  readonly complaints: string[];
}

interface ReadBody {
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly operation: OperationDefinitionNode | null;
  readonly name: string | null;
}

/** Handles one request: key, fault, document, budget, execution, fault again. */
export function answerRequest(desk: Desk, request: FakeRequest, log: LoggedRequest): FakeAnswer | Promise<FakeAnswer> {
  const fault = takeFault(desk.faults, log.operation);
  const struck = fault === null ? null : strike(desk, fault);
  if (struck !== null) return struck;

  const refusal = refuseKey(desk, request.headers.authorization);
  if (refusal !== null) return refusal;
  if (request.method !== 'POST') return plain(405, 'Method Not Allowed');
  const body = readBody(request.body);
  if (body === null) return failed(400, [linearError('graphql error', 'Bad request', 'The body is not a request.')]);
  const { document, errors } = checkDocument(body.query);
  if (document === null || errors.length > 0) return failed(400, errors.map(asValidationError(document === null)));
  if (body.operation === null) {
    return failed(400, [linearError('graphql error', 'Unknown operation', 'There is no such operation.')]);
  }

  const complexity = complexityOf({
    schema: linearSchema(),
    operation: body.operation,
    fragments: new Map(document.definitions.filter(isFragment).map((each) => [each.name.value, each])),
    variables: body.variables,
  });
  log.complexity = complexity;
  if (complexity > desk.meter.complexityPerRequest) return tooComplex(desk.meter.complexityPerRequest, complexity);
  const cost = Math.ceil(complexity - tiny);
  const taken = desk.meter.take(cost, desk.now());
  if (taken !== 'taken') return { ...rateLimited(taken), headers: { ...json, ...desk.meter.headers(desk.now()) } };

  const execution: Execution = {
    workspace: desk.workspace,
    now: desk.now(),
    cursors: desk.cursors,
    faults: desk.faults,
    places: [],
    pages: [],
    complaints: [],
  };
  const finish = (result: ExecutionResult): FakeAnswer => {
    const headers = { ...json, 'x-complexity': String(cost), ...desk.meter.headers(desk.now()) };
    const struckPage = pageFault(desk, execution);
    if (struckPage !== null) return struckPage;
    const answer = answerOf(desk, execution, result, fault);
    return { ...answer, headers: { ...headers, ...answer.headers } };
  };
  const result = executeDocument(document, body.variables, body.name, execution);
  return result instanceof Promise ? result.then(finish) : finish(result);
}

/** The facts of a request before it is answered. */
export function logRequest(request: FakeRequest, at: number): LoggedRequest {
  const body = readBody(request.body);
  const { authorization: _, ...headers } = request.headers;
  return {
    at,
    operation: body?.name ?? null,
    document: body?.query ?? '',
    variables: body?.variables ?? {},
    headers,
    status: null,
    complexity: null,
  };
}

const json = { 'content-type': 'application/json; charset=utf-8' };

/** Corrects the rounding errors of sums of tenths. */
const tiny = 1e-6;

function readBody(text: string): ReadBody | null {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof body !== 'object' || body === null || !('query' in body) || typeof body.query !== 'string') return null;
  const variables = 'variables' in body && typeof body.variables === 'object' ? (body.variables ?? {}) : {};
  const wanted = 'operationName' in body && typeof body.operationName === 'string' ? body.operationName : null;
  const operations = checkDocument(body.query).document?.definitions.filter(isOperation) ?? [];
  const operation = (wanted === null ? operations[0] : operations.find(({ name }) => name?.value === wanted)) ?? null;
  return {
    query: body.query,
    // Errors in it are found when the variables are read by their types.
    variables: variables as Readonly<Record<string, unknown>>,
    operation,
    name: operation?.name?.value ?? null,
  };
}

/** A personal key comes alone, a token of an application behind `Bearer`. */
function refuseKey({ keys }: Desk, authorization: string | undefined): FakeAnswer | null {
  if (authorization === keys.apiKey || authorization === `Bearer ${keys.oauthToken}`) return null;
  if (authorization === `Bearer ${keys.apiKey}`) {
    const text =
      "It looks like you're trying to use an API key as a Bearer token. Remove the Bearer prefix from the Authorization header.";
    return failed(400, [linearError('invalid input', 'Bad request', text, { http: { status: 400 } })]);
  }
  return failed(401, [
    linearError(
      'authentication error',
      'Authentication required, not authenticated',
      'You need to authenticate to access this operation.',
      { http: { status: 401 } },
    ),
  ]);
}

function asValidationError(isSyntax: boolean): (error: GraphQLError) => GraphQLError {
  return (error) =>
    linearError('graphql error', error.message, error.message, {
      ...(isSyntax ? { code: 'GRAPHQL_PARSE_FAILED' } : {}),
      http: { status: 400 },
    });
}

function tooComplex(limit: number, complexity: number): FakeAnswer {
  const text = `The query is too complex. Complexity: ${complexity}. Maximum allowed complexity: ${limit}.`;
  return failed(400, [linearError('invalid input', 'Query too complex', text, { http: { status: 400 } })]);
}

function rateLimited(why: string, status = 400): FakeAnswer {
  const text = `Rate limit exceeded (${why}).`;
  return failed(status, [linearError('ratelimited', 'Rate limit exceeded', text, { http: { status } })]);
}

/** A fault that leaves nothing of the answer; null for one that only changes it. */
function strike(desk: Desk, fault: Fault): FakeAnswer | null {
  switch (fault.kind) {
    case 'status':
      return { status: fault.status, headers: { ...json, ...fault.headers }, body: fault.body ?? '', cut: null };
    case 'garbage':
      return { status: 200, headers: json, body: fault.body ?? '<html><body>{"data": {"issues"', cut: null };
    case 'rate_limit': {
      const reset =
        fault.resetAt === undefined
          ? {}
          : {
              'x-ratelimit-requests-limit': String(desk.meter.requestsPerWindow),
              'x-ratelimit-requests-remaining': '0',
              'x-ratelimit-requests-reset': String(fault.resetAt),
            };
      const after = fault.retryAfterSeconds === undefined ? {} : { 'retry-after': String(fault.retryAfterSeconds) };
      return { ...rateLimited('too_many_requests', fault.status), headers: { ...json, ...reset, ...after } };
    }
    case 'cut':
      return fault.where === 'before_head' ? { status: 0, headers: {}, body: '', cut: 'before_head' } : null;
    case 'graphql_errors':
      return null;
  }
}

function pageFault(desk: Desk, { pages }: Execution): FakeAnswer | null {
  const meant = desk.faults.page;
  if (meant === null) return null;
  if (!pages.some(({ field, page }) => field === meant.field && page === meant.page)) return null;
  const struck = strike(desk, meant.fault);
  if (struck !== null) return struck;
  if (meant.fault.kind === 'graphql_errors') return failed(200, [brought(meant.fault)]);
  return { status: 200, headers: json, body: '{"data":{"issues":{"nodes":[{"id":"', cut: 'in_body' };
}

function answerOf(desk: Desk, execution: Execution, result: ExecutionResult, fault: Fault | null): FakeAnswer {
  desk.complaints.push(...execution.complaints);
  if (execution.complaints.length > 0) return plain(501, execution.complaints.join('\n'));
  // Without data at all nothing was executed: the variables do not fit.
  if (result.data === undefined) {
    const errors = result.errors ?? [];
    return failed(
      400,
      errors.map((error) => linearError('graphql error', error.message, error.message, { code: 'BAD_USER_INPUT' })),
    );
  }
  const whole = distort(desk.faults, execution, result);
  if (fault?.kind === 'graphql_errors') {
    const data = fault.data === 'null' ? null : whole.data;
    return { status: 200, headers: json, body: JSON.stringify({ errors: [brought(fault)], data }), cut: null };
  }
  return { status: 200, headers: json, body: JSON.stringify(whole), cut: fault?.kind === 'cut' ? 'in_body' : null };
}

function brought({
  message = 'Something went wrong',
  code,
}: Fault & { readonly kind: 'graphql_errors' }): GraphQLError {
  return linearError('internal error', message, message, code === undefined ? {} : { code });
}

/** Replaces records by malformed ones. */
function distort({ malformed }: Faults, { places }: Execution, result: ExecutionResult): ExecutionResult {
  if (places.length === 0) return result;
  const answer: ExecutionResult = JSON.parse(JSON.stringify(result));
  for (const { issueId, path } of places) {
    const malformation = malformed.get(issueId);
    const key = path.at(-1);
    if (malformation === undefined || key === undefined) continue;
    let holder: unknown = answer.data;
    for (const step of path.slice(0, -1)) holder = isHolder(holder) ? holder[step] : undefined;
    if (!isHolder(holder)) continue;
    const record = holder[key];
    if (isHolder(record)) holder[key] = malformation(record);
  }
  return answer;
}

function isHolder(value: unknown): value is Record<string | number, unknown> {
  return typeof value === 'object' && value !== null;
}

function isOperation(node: { readonly kind: Kind }): node is OperationDefinitionNode {
  return node.kind === Kind.OPERATION_DEFINITION;
}

function isFragment(node: { readonly kind: Kind }): node is FragmentDefinitionNode {
  return node.kind === Kind.FRAGMENT_DEFINITION;
}

function failed(status: number, errors: readonly GraphQLError[]): FakeAnswer {
  return { status, headers: json, body: JSON.stringify({ errors }), cut: null };
}

function plain(status: number, body: string): FakeAnswer {
  return { status, headers: { 'content-type': 'text/plain; charset=utf-8' }, body, cut: null };
}
