import type { ServerResponse } from 'node:http';
import { type FakeModel, type ModelApi, startFakeModel } from '../fake-model.ts';
import type { Conversation } from '../openai/read-conversation.ts';
import type { Said, Scenario, Step } from '../openai/scenario.ts';
import { type AnswerContext, realWait, wordsOf } from '../openai/stream-answer.ts';

/**
 * The Messages API, with the same scenarios as the fake of the Responses API. A request without tools is a side call of
 * the client, such as one for a title, and matches no rule unless it says what a rule wants.
 */
export function startFakeAnthropic(scenario: Scenario = {}): Promise<FakeModel> {
  return startFakeModel(messagesApi, scenario);
}

type Json = Readonly<Record<string, unknown>>;

const messagesApi: ModelApi = {
  path: '/v1/messages',
  readConversation,
  streamAnswer,
  errorBody: (status) => ({
    type: 'error',
    error: { type: errorTypes[status] ?? 'api_error', message: `status ${status}` },
  }),
  otherwise: ({ path }) => (path.endsWith('/count_tokens') ? { input_tokens: 100 } : null),
};

const errorTypes: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  429: 'rate_limit_error',
  529: 'overloaded_error',
};

/** Claude Code adds texts in the name of the user, and puts results of tools and new texts into one message. */
function readConversation(body: unknown): Conversation {
  const request = asRecord(body);
  const messages = (Array.isArray(request.messages) ? request.messages : []).map(asRecord);
  let [said, round, lastOutput] = ['', 0, ''];
  for (const { role, content } of messages) {
    if (role !== 'user') continue;
    const blocks = blocksOf(content);
    const outputs = blocks.filter(({ type }) => type === 'tool_result').map((block) => textOf(block.content));
    const text = blocks.flatMap((block) => (block.type === 'text' ? plain(String(block.text)) : [])).at(-1);
    if (outputs.length > 0) {
      round += 1;
      lastOutput = outputs.at(-1) ?? '';
    }
    if (text !== undefined) [said, round, lastOutput] = [text, 0, ''];
  }
  const tools = (Array.isArray(request.tools) ? request.tools : []).map(asRecord);
  return {
    id: String(asRecord(request.metadata).user_id ?? ''),
    said,
    round,
    lastOutput,
    memory: messages
      .map(({ content }) =>
        blocksOf(content)
          .map((block) => textOf(block.text ?? block.content))
          .join('\n'),
      )
      .join('\n'),
    toolNames: tools.map(({ name }) => String(name)),
  };
}

/** The text without what the client added; nothing when nothing is left. */
function plain(text: string): string[] {
  const left = text.replaceAll(/<system-reminder>[\s\S]*?<\/system-reminder>/g, '').trim();
  return left === '' || left.startsWith('[Request interrupted') ? [] : [left];
}

async function streamAnswer(response: ServerResponse, step: Step, context: AnswerContext): Promise<void> {
  const { number, model, conversation, fault } = context;
  const said = (text: Said): string => (typeof text === 'string' ? text : text(conversation));
  const send = (type: string, fields: Json): void => {
    if (!response.destroyed) response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`);
  };
  const usage = usageOf(step.usage);
  const message = { id: `msg_${number}`, type: 'message', role: 'assistant', model, content: [], stop_reason: null };
  send('message_start', { message: { ...message, usage: { ...usage, output_tokens: 1 } } });
  let index = 0;
  const block = async (start: Json, deltas: readonly Json[], isWhole = true): Promise<void> => {
    send('content_block_start', { index, content_block: start });
    for (const delta of deltas) {
      if (step.pieceDelayMs !== undefined) await realWait(step.pieceDelayMs);
      send('content_block_delta', { index, delta });
    }
    if (isWhole) send('content_block_stop', { index });
    index += 1;
  };
  if (step.reasoning !== undefined) {
    const thinking = { type: 'thinking_delta', thinking: said(step.reasoning) };
    await block({ type: 'thinking', thinking: '', signature: '' }, [
      thinking,
      { type: 'signature_delta', signature: 'c2lnbg==' },
    ]);
  }
  const pieces = step.pieces ?? (step.message === undefined ? null : wordsOf(said(step.message)));
  const isWhole = fault?.kind !== 'cut' && fault?.kind !== 'hang';
  if (pieces !== null)
    await block(
      { type: 'text', text: '' },
      pieces.map((text) => ({ type: 'text_delta', text })),
      isWhole,
    );
  if (fault?.kind === 'cut') {
    // Written data must arrive; an early cut would lose it.
    await realWait(20);
    response.destroy();
    return;
  }
  if (fault?.kind === 'hang') return new Promise((resolve) => void response.once('close', resolve));
  for (const [place, call] of (step.calls ?? []).entries()) {
    if ('custom' in call) throw new Error('The Messages API has no tools that take text.');
    const text = typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments);
    const start = { type: 'tool_use', id: `toolu_${number}_${place}`, name: call.name, input: {} };
    await block(start, [{ type: 'input_json_delta', partial_json: text }]);
  }
  if (fault?.kind === 'failed') {
    send('error', { error: { type: fault.code, message: fault.message } });
  } else {
    const stop = fault?.kind === 'incomplete' ? fault.reason : step.calls === undefined ? 'end_turn' : 'tool_use';
    send('message_delta', { delta: { stop_reason: stop, stop_sequence: null }, usage });
    send('message_stop', {});
  }
  response.end();
}

function usageOf({ input = 100, cached = 0, output = 20 }: NonNullable<Step['usage']> = {}): Json {
  return {
    input_tokens: input - cached,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: cached,
    output_tokens: output,
  };
}

function blocksOf(content: unknown): Json[] {
  return typeof content === 'string'
    ? [{ type: 'text', text: content }]
    : Array.isArray(content)
      ? content.map(asRecord)
      : [];
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return Array.isArray(content) ? content.map((part) => String(asRecord(part).text ?? '')).join('\n') : '';
}

function asRecord(value: unknown): Json {
  return typeof value === 'object' && value !== null ? (value as Json) : {};
}
