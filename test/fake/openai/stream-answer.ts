import type { ServerResponse } from 'node:http';
import type { Conversation } from './read-conversation.ts';
import type { FakeUsage, Fault, Said, Step, ToolCall } from './scenario.ts';

/** What an answer is made for. */
export interface AnswerContext {
  /** Makes the ids in it: no other answer has this number. */
  readonly number: number;
  readonly model: unknown;
  readonly conversation: Conversation;
  /** What goes wrong this time. */
  readonly fault: Fault | undefined;
}

/** Streams one answer in the events of the Responses API, up to its end or its fault. */
export async function streamAnswer(response: ServerResponse, step: Step, context: AnswerContext): Promise<void> {
  const { number, model, conversation, fault } = context;
  const said = (text: Said): string => (typeof text === 'string' ? text : text(conversation));
  const stream = openStream(response);
  const head = { id: `resp_${number}`, object: 'response', created_at: 0, model };
  stream.send('response.created', { response: { ...head, status: 'in_progress', output: [] } });

  if (step.reasoning !== undefined) sendReasoning(stream, `rs_${number}`, said(step.reasoning));
  const pieces = step.pieces ?? (step.message === undefined ? null : wordsOf(said(step.message)));
  const isWhole = fault?.kind !== 'cut' && fault?.kind !== 'hang';
  if (pieces !== null) await sendMessage(stream, `msg_${number}`, pieces, step.pieceDelayMs ?? 0, isWhole);
  if (fault?.kind === 'cut') return stream.cut();
  if (fault?.kind === 'hang') return stream.stay();
  for (const [index, call] of (step.calls ?? []).entries()) sendCall(stream, `${number}_${index}`, call);

  const { output } = stream;
  const usage = usageOf(step.usage);
  if (fault?.kind === 'failed') {
    const error = { code: fault.code, message: fault.message };
    stream.send('response.failed', { response: { ...head, status: 'failed', output, error, usage: null } });
  } else if (fault?.kind === 'incomplete') {
    const details = { status: 'incomplete', incomplete_details: { reason: fault.reason } };
    stream.send('response.incomplete', { response: { ...head, ...details, output, usage } });
  } else {
    stream.send('response.completed', { response: { ...head, status: 'completed', output, usage } });
  }
  response.end();
}

interface AnswerStream {
  /** The items that were completed so far. */
  readonly output: unknown[];
  send(type: string, fields: Readonly<Record<string, unknown>>): void;
  /** The place of the item that comes next. */
  place(): { readonly output_index: number };
  begin(item: unknown): void;
  complete(item: unknown): void;
  pause(ms: number): Promise<void>;
  cut(): Promise<void>;
  stay(): Promise<void>;
}

function openStream(response: ServerResponse): AnswerStream {
  const output: unknown[] = [];
  let sequence = 0;
  const send = (type: string, fields: Readonly<Record<string, unknown>>): void => {
    if (response.destroyed) return;
    const event = { type, sequence_number: sequence, ...fields };
    sequence += 1;
    response.write(`event: ${type}\ndata: ${JSON.stringify(event)}\n\n`);
  };
  const place = (): { output_index: number } => ({ output_index: output.length });
  const pause = (ms: number): Promise<void> => (ms > 0 ? realWait(ms) : Promise.resolve());
  return {
    output,
    send,
    place,
    begin: (item) => send('response.output_item.added', { ...place(), item }),
    complete: (item) => {
      send('response.output_item.done', { ...place(), item });
      output.push(item);
    },
    pause,
    cut: async () => {
      // Written data must arrive; an early cut would lose it.
      await pause(20);
      response.destroy();
    },
    stay: () =>
      new Promise((resolve) => {
        response.once('close', resolve);
      }),
  };
}

function sendReasoning(stream: AnswerStream, id: string, text: string): void {
  const item = { type: 'reasoning', id, summary: [], encrypted_content: null };
  const at = { item_id: id, ...stream.place(), summary_index: 0 };
  stream.begin(item);
  stream.send('response.reasoning_summary_part.added', { ...at, part: { type: 'summary_text', text: '' } });
  stream.send('response.reasoning_summary_text.delta', { ...at, delta: text });
  stream.send('response.reasoning_summary_text.done', { ...at, text });
  stream.complete({ ...item, summary: [{ type: 'summary_text', text }] });
}

async function sendMessage(
  stream: AnswerStream,
  id: string,
  pieces: readonly string[],
  pieceDelayMs: number,
  isWhole: boolean,
): Promise<void> {
  const item = { type: 'message', role: 'assistant', id };
  const at = { item_id: id, ...stream.place(), content_index: 0 };
  const part = { type: 'output_text', text: '', annotations: [] };
  stream.begin({ ...item, status: 'in_progress', content: [] });
  stream.send('response.content_part.added', { ...at, part });
  for (const delta of pieces) {
    await stream.pause(pieceDelayMs);
    stream.send('response.output_text.delta', { ...at, delta });
  }
  if (!isWhole) return;
  const text = pieces.join('');
  stream.send('response.output_text.done', { ...at, text });
  stream.send('response.content_part.done', { ...at, part: { ...part, text } });
  stream.complete({ ...item, status: 'completed', content: [{ ...part, text }] });
}

function sendCall(stream: AnswerStream, suffix: string, call: ToolCall): void {
  const call_id = `call_${suffix}`;
  if ('custom' in call) {
    const item = { type: 'custom_tool_call', id: `ctc_${suffix}`, call_id, name: call.custom };
    stream.begin({ ...item, input: '', status: 'in_progress' });
    stream.complete({ ...item, input: call.input, status: 'completed' });
    return;
  }
  const { name, namespace } = call;
  const text = typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments);
  const whose = namespace === undefined ? {} : { namespace };
  const item = { type: 'function_call', id: `fc_${suffix}`, call_id, name, ...whose };
  stream.begin({ ...item, arguments: '', status: 'in_progress' });
  stream.send('response.function_call_arguments.delta', { item_id: item.id, ...stream.place(), delta: text });
  stream.complete({ ...item, arguments: text, status: 'completed' });
}

function usageOf(usage: Partial<FakeUsage> = {}): unknown {
  const { input = 100, cached = 0, output = 20, reasoning = 0 } = usage;
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cached },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: input + output,
  };
}

export function wordsOf(text: string): readonly string[] {
  return text.match(/\s*\S+\s*/g) ?? [text];
}

export function realWait(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
