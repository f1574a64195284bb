import { BatonError } from '../../../core/baton-error.ts';
import type { SessionRequest } from '../../agent.ts';
import type { EventSink } from '../../wire/event-sink.ts';
import { type Fields, fieldsOf, listOf, textOf } from '../../wire/fields.ts';
import { ownServer } from '../presets.ts';
import type { AcpOptions } from '../settings.ts';
import { refusalOf } from '../turn/turn-end.ts';
import { type AcpConnection, isRefusal } from '../wire/connection.ts';

/**
 * The shortest limit for an answer before the first turn: a busy machine reads a large program slowly, and the first start of
 * OpenCode also makes its database.
 */
const leastStartMs = 90_000;
const protocolVersion = 1;
const authRequired = -32_000;

export interface OpenParts {
  readonly connection: AcpConnection;
  readonly request: SessionRequest;
  readonly options: AcpOptions;
  readonly events: EventSink;
  readonly now: () => number;
}

/** A session that is ready for a turn. */
export interface OpenedSession {
  readonly sessionId: string;
  readonly isResumed: boolean;
  readonly model: string | null;
  /** The agent takes text in a running turn: an extension of the protocol that several agents share. */
  readonly canSteer: boolean;
  /** For people and the transcript. */
  readonly facts: Readonly<Record<string, unknown>>;
}

/**
 * Opens the conversation: says what Baton can do, continues the old conversation where the agent can, otherwise starts
 * a new one, then chooses the mode and the model. What an agent cannot do is reported, except for a mode or model that
 * the workflow file names: without it no session starts.
 */
export async function openSession(parts: OpenParts): Promise<OpenedSession> {
  const { options, events, request } = parts;
  const { preset } = options;
  // The mode of the workflow file may be one for writing.
  const [mode, usual] = request.isReadOnly ? [null, preset?.readOnly.mode] : [options.mode, preset?.mode];
  const agent = await initialize(parts);
  const { sessionId, isResumed, answer } = await conversation(parts, agent);
  await choose(parts, sessionId, answer, 'mode', mode, usual ?? null);
  const model = request.recovery?.model;
  await choose(parts, sessionId, answer, 'model', model === undefined ? options.model : null, model ?? null);
  if (request.recovery?.budgetTokens !== undefined)
    events.emit('notification', 'the agent has no limit for its context that Baton can set; skipped');
  const { name, version } = fieldsOf(agent.agentInfo);
  const facts = { threadId: sessionId, isResumed, agent: name, version, auth: authOf(agent) };
  const canSteer = fieldsOf(fieldsOf(agent._meta).steering).supported === true;
  return { sessionId, isResumed, model: model ?? options.model ?? currentOf(answer, 'model'), canSteer, facts };
}

async function initialize(parts: OpenParts): Promise<Fields> {
  const canWrite = parts.request.isReadOnly !== true;
  const agent = await ask(parts, 'initialize', {
    protocolVersion,
    clientCapabilities: {
      fs: { readTextFile: true, writeTextFile: canWrite },
      terminal: canWrite,
      elicitation: { form: {}, url: {} },
      ...(parts.options.preset?.hasHelperSessions ? { subagents: {} } : {}),
    },
    clientInfo: { name: 'baton', title: 'Baton', version: parts.options.version },
  });
  if (agent.protocolVersion === protocolVersion) return agent;
  const theirs = JSON.stringify(agent.protocolVersion ?? null);
  const message = `The agent speaks version ${theirs} of the Agent Client Protocol; Baton speaks ${protocolVersion}.`;
  throw new BatonError('agent_protocol_error', message);
}

async function conversation(
  parts: OpenParts,
  agent: Fields,
): Promise<{ sessionId: string; isResumed: boolean; answer: Fields }> {
  const { request, events } = parts;
  const { threadId } = request;
  const capabilities = fieldsOf(agent.agentCapabilities);
  const place = placeOf(parts, capabilities);
  const method = resumeMethod(capabilities);
  if (threadId !== null && method === null)
    events.emit('notification', `starting a new session, because the agent cannot continue one: ${threadId}`);
  if (threadId !== null && method !== null) {
    try {
      const answer = await ask(parts, method, { sessionId: threadId, ...place });
      return { sessionId: threadId, isResumed: true, answer };
    } catch (error) {
      // The protocol has no code for a conversation that is gone; a login that is missing has one.
      const isLost = error instanceof BatonError && error.details.agent_code !== undefined;
      if (!isLost || error.code === 'agent_auth_failed' || error.code === 'agent_thread_in_use') throw error;
      events.emit(
        'notification',
        `starting a new session, because the old one is lost: ${threadId} (${error.message})`,
      );
    }
  }
  const answer = await ask(parts, 'session/new', place);
  const sessionId = textOf(answer.sessionId);
  if (sessionId === null) throw new BatonError('agent_protocol_error', 'The agent opened a session without an id.');
  return { sessionId, isResumed: false, answer };
}

/** `session/resume` does not send the whole conversation again. */
function resumeMethod(capabilities: Fields): 'session/resume' | 'session/load' | null {
  const { resume } = fieldsOf(capabilities.sessionCapabilities);
  if (resume !== undefined && resume !== null) return 'session/resume';
  return capabilities.loadSession === true ? 'session/load' : null;
}

function placeOf({ request, options, events }: OpenParts, capabilities: Fields): object {
  const { workspace, writableRoots, toolAddress } = request;
  const hasTools = options.tools === 'mcp' && toolAddress !== null;
  const speaksHttp = fieldsOf(capabilities.mcpCapabilities).http === true;
  if (hasTools && !speaksHttp)
    events.emit('notification', "the agent reaches no MCP server over HTTP, so it has none of Baton's tools");
  const headers = [{ name: 'Authorization', value: `Bearer ${toolAddress?.token}` }];
  const server = { type: 'http', name: ownServer, url: toolAddress?.url, headers };
  const roots = fieldsOf(capabilities.sessionCapabilities).additionalDirectories;
  const takesRoots = roots !== undefined && roots !== null && writableRoots.length > 0;
  const meta = options.preset?.meta?.(request);
  return {
    cwd: workspace,
    mcpServers: hasTools && speaksHttp ? [server] : [],
    ...(takesRoots ? { additionalDirectories: writableRoots } : {}),
    ...(meta === undefined ? {} : { _meta: meta }),
  };
}

type Choice = 'mode' | 'model';

/** `wanted` must be possible; `preferred` is used where it is. */
async function choose(
  parts: OpenParts,
  sessionId: string,
  answer: Fields,
  what: Choice,
  wanted: string | null,
  preferred: string | null,
): Promise<void> {
  const value = wanted ?? preferred;
  if (value === null || currentOf(answer, what) === value) return;
  const { option, listed } = offeredIn(answer, what);
  const isOffered = listed.includes(value) || (what === 'model' && option !== null);
  if (!isOffered) {
    const message = `The agent has no ${what} "${value}"; it has: ${listed.join(', ') || 'none'}.`;
    if (wanted !== null) throw new BatonError('agent_launch_failed', message, { details: { [what]: value, listed } });
    parts.events.emit('notification', message);
    return;
  }
  try {
    if (option !== null) await ask(parts, 'session/set_config_option', { sessionId, configId: option, value });
    else if (what === 'mode') await ask(parts, 'session/set_mode', { sessionId, modeId: value });
    else await ask(parts, 'session/set_model', { sessionId, modelId: value });
  } catch (error) {
    if (wanted !== null || parts.connection.ended !== null || !(error instanceof BatonError)) throw error;
    parts.events.emit('notification', `the agent refused the ${what} ${value}: ${error.message}`);
  }
}

/** The option of the session that sets it, and the values that there are. */
function offeredIn(answer: Fields, what: Choice): { readonly option: string | null; readonly listed: string[] } {
  const option = optionOf(answer, what);
  if (option !== undefined) return { option: textOf(option.id), listed: valuesIn(option.options) };
  const listed = what === 'mode' ? fieldsOf(answer.modes).availableModes : fieldsOf(answer.models).availableModels;
  return { option: null, listed: valuesIn(listed) };
}

function currentOf(answer: Fields, what: Choice): string | null {
  const option = optionOf(answer, what);
  const other = what === 'mode' ? fieldsOf(answer.modes).currentModeId : fieldsOf(answer.models).currentModelId;
  return textOf(option?.currentValue) ?? textOf(other);
}

function optionOf(answer: Fields, what: Choice): Fields | undefined {
  const options = listOf(answer.configOptions).map(fieldsOf);
  return options.find(({ category }) => category === what);
}

/** Values may stand in groups. */
function valuesIn(list: unknown): string[] {
  return listOf(list)
    .map(fieldsOf)
    .flatMap((each) => [
      ...[each.value, each.id, each.modelId].flatMap((value) => textOf(value) ?? []).slice(0, 1),
      ...valuesIn(each.options),
    ]);
}

function authOf(agent: Fields): readonly string[] {
  return listOf(agent.authMethods).flatMap((each) => textOf(fieldsOf(each).name) ?? []);
}

async function ask(parts: OpenParts, method: string, params: object): Promise<Fields> {
  const { connection, request, options, now } = parts;
  try {
    const waitMs = Math.max(options.readTimeoutMs, leastStartMs);
    return await connection.request(method, params, waitMs, request.signal);
  } catch (error) {
    if (!isRefusal(error)) throw error;
    const login = options.preset?.login ?? 'Log in with the program itself.';
    const shown = refusalOf(error, { lastMessage: null, resetsAt: null, now: now(), login });
    if (error.code === authRequired || shown.code !== 'agent_turn_failed') throw shown;
    const message = `The agent refused ${method}: ${shown.message}`;
    throw new BatonError('agent_launch_failed', message, { cause: error, details: shown.details });
  }
}
