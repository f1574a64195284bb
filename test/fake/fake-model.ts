import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import type { Conversation } from './openai/read-conversation.ts';
import type { Fault, Scenario, Step } from './openai/scenario.ts';
import { type AnswerContext, realWait } from './openai/stream-answer.ts';

/**
 * A model on loopback with scripted answers, over server-sent events, as far as a coding agent uses its API. What must
 * hold: the same request gets the same answer (`scenario.ts`); each request is logged when it arrives, also one that
 * fails; what it does not model is a 404 and stands in the log.
 */
export interface FakeModel extends AsyncDisposable {
  readonly url: string;
  /** Oldest first. */
  readonly requests: readonly ModelRequest[];
  /** From the next request on. */
  play(scenario: Scenario): void;
}

export interface ModelRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly conversation: Conversation;
}

/** How one API asks a model, answers and fails. */
export interface ModelApi {
  /** The end of the path of a request to the model. */
  readonly path: string;
  readConversation(body: unknown): Conversation;
  streamAnswer(response: ServerResponse, step: Step, context: AnswerContext): Promise<void>;
  /** The body of an HTTP error that has none of its own. */
  errorBody(status: number): unknown;
  /** For a request that is not about an answer of the model; null: it is a 404. */
  otherwise?(request: ModelRequest): unknown;
}

export async function startFakeModel(api: ModelApi, scenario: Scenario = {}): Promise<FakeModel> {
  const requests: ModelRequest[] = [];
  const timesAsked = new Map<string, number>();
  let played = scenario;
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      // The client went away, or this fake is broken; the second must be seen.
      if (!response.headersSent) response.writeHead(500, { 'content-type': 'text/plain' }).end(String(error));
      else response.destroy();
    });
  });

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const logged = await logRequest(request, api);
    requests.push(logged);
    const number = requests.length;
    const { conversation, body } = logged;
    if (logged.method !== 'POST' || !logged.path.endsWith(api.path)) {
      const other = api.otherwise?.(logged) ?? null;
      const unknown = { error: { message: `no such route: ${logged.method} ${logged.path}` } };
      sendJson(response, other === null ? 404 : 200, other ?? unknown);
      return;
    }
    const step = chooseStep(played, conversation);
    const key = JSON.stringify([conversation.id, conversation.said, conversation.round]);
    const times = (timesAsked.get(key) ?? 0) + 1;
    timesAsked.set(key, times);
    const fault: Fault | undefined = times <= (step.failTimes ?? Number.POSITIVE_INFINITY) ? step.fault : undefined;
    await realWait(step.delayMs ?? 0);
    if (fault?.kind === 'http') {
      sendJson(response, fault.status, fault.body ?? api.errorBody(fault.status), step.headers);
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache', ...step.headers });
    const model = (body as { readonly model?: unknown }).model;
    await api.streamAnswer(response, step, { number, model, conversation, fault });
  };

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The fake model has no port.');
  return {
    url: `http://127.0.0.1:${address.port}`,
    requests,
    play: (next) => {
      played = next;
      timesAsked.clear();
    },
    [Symbol.asyncDispose]: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

const usualSteps: readonly Step[] = [{ message: 'ok' }];

function chooseStep({ rules = [], otherwise = usualSteps }: Scenario, { said, round }: Conversation): Step {
  const steps = rules.find(({ when }) => when.test(said))?.steps ?? otherwise;
  return steps[round] ?? steps.at(-1) ?? {};
}

async function logRequest(request: IncomingMessage, api: ModelApi): Promise<ModelRequest> {
  const bytes = decode(await buffer(request), request.headers['content-encoding']);
  const body: unknown = bytes.length === 0 ? {} : JSON.parse(bytes.toString('utf8'));
  return {
    method: request.method ?? '',
    path: new URL(request.url ?? '/', 'http://localhost').pathname,
    headers: Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)])),
    body,
    conversation: api.readConversation(body),
  };
}

function decode(bytes: Buffer, encoding: string | undefined): Buffer {
  if (encoding === 'gzip') return gunzipSync(bytes);
  return encoding === 'zstd' ? zstdDecompressSync(bytes) : bytes;
}

function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}
