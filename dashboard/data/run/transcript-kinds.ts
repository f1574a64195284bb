import type { RunEvent } from '../../../src/client/schema/run.ts';
import { stageWords } from '../../../src/core/run/run.ts';

/**
 * What an event of a run means to a reader. Backends report the same things in different payloads; an unknown event is
 * shown by its line, so that nothing is lost.
 */
export const eventKinds = [
  ...([
    'says',
    'thinks',
    'command',
    'change',
    'tool',
    'question',
    'person',
    'prompt',
    'turn',
    'problem',
    'output',
  ] as const),
  /** Numbers, and pieces of text that comes whole later: hidden by default. */
  ...(['figures', 'piece'] as const),
];
export type EventKind = (typeof eventKinds)[number];

export interface EventView {
  readonly kind: EventKind;
  readonly text: string;
  /** The text of an agent is Markdown. */
  readonly isMarkdown: boolean;
  /** Further text that may be long, such as the output of a command; null where there is none. */
  readonly detail: string | null;
  readonly isBad: boolean;
}

const known = new WeakMap<RunEvent, EventView>();

export function viewOf(event: RunEvent): EventView {
  const before = known.get(event);
  const view = before ?? { text: event.message, isMarkdown: false, detail: null, isBad: false, ...read(event) };
  if (before === undefined) known.set(event, view);
  return view;
}

type Read = Pick<EventView, 'kind'> & Partial<EventView>;

const byName: Readonly<Record<string, Read>> = {
  session_started: { kind: 'turn' },
  turn_started: { kind: 'turn' },
  turn_completed: { kind: 'turn' },
  turn_cancelled: { kind: 'turn' },
  turn_prompt: { kind: 'prompt' },
  person_said: { kind: 'person' },
  turn_input_required: { kind: 'question' },
  approval_required: { kind: 'question' },
  approval_auto_approved: { kind: 'question' },
  startup_failed: { kind: 'problem', isBad: true },
  turn_failed: { kind: 'problem', isBad: true },
  turn_ended_with_error: { kind: 'problem', isBad: true },
  events_dropped: { kind: 'problem' },
  malformed: { kind: 'output' },
  other_message: { kind: 'output' },
};

function read(event: RunEvent): Read {
  const payload = fields(event.payload);
  switch (event.event) {
    case 'tool_call_completed':
      return { kind: 'tool', detail: toolDetail(payload) };
    case 'tool_call_failed':
    case 'unsupported_tool_call':
      return { kind: 'tool', detail: toolDetail(payload), isBad: true };
    case 'stage_changed':
      return { kind: 'turn', text: stageWords(event.message) };
    case 'notification':
      return notification(event.message, payload);
    default:
      return Object.hasOwn(byName, event.event) ? (byName[event.event] ?? { kind: 'output' }) : { kind: 'output' };
  }
}

function notification(message: string, payload: Fields): Read {
  const method = words(payload.method);
  if (/delta$|patchUpdated$|\/progress$/iu.test(method)) return { kind: 'piece' };
  if (method === 'item/completed') return item(fields(fields(payload.params).item));
  if (method === 'item/started') return { kind: 'piece' };
  if (method === 'error') return { kind: 'problem', isBad: true };
  if (/(tokenUsage|rateLimits|diff)\/updated$/u.test(method)) return { kind: 'figures' };
  if (method !== '') return { kind: 'output' };
  if (payload.type === 'usage') return { kind: 'figures' };
  const said = words(payload.text);
  return said === '' ? byLine(message) : { kind: 'says', text: said, isMarkdown: true };
}

function item(facts: Fields): Read {
  const said = words(facts.text);
  const isBad = facts.status === 'failed' || (typeof facts.exitCode === 'number' && facts.exitCode !== 0);
  switch (facts.type) {
    case 'agentMessage':
    case 'plan':
      return { kind: 'says', isMarkdown: true, ...(said === '' ? {} : { text: said }) };
    case 'reasoning':
      return { kind: 'thinks', isMarkdown: true, ...thought(facts) };
    case 'commandExecution':
      return { kind: 'command', detail: words(facts.aggregatedOutput) || null, isBad };
    case 'fileChange':
      return { kind: 'change', isBad };
    case 'mcpToolCall':
    case 'toolCall':
      return {
        kind: 'tool',
        detail: pretty({ arguments: facts.arguments, result: facts.result ?? facts.error }),
        isBad,
      };
    default:
      return { kind: 'output' };
  }
}

function thought(facts: Fields): Partial<EventView> {
  const parts = [facts.summary, facts.content].flatMap((each) => (Array.isArray(each) ? each : [])).map(words);
  const text = parts.filter((part) => part !== '').join('\n\n');
  return text === '' ? {} : { text };
}

/** A live event has only its line until the transcript is read. */
function byLine(message: string): Read {
  if (message.startsWith('thinks: ')) return { kind: 'thinks' };
  if (/^(tokens so far|token usage|quota used|changes so far)/u.test(message)) return { kind: 'figures' };
  if (/^(says|plans|prints|changes files|continues|runs|calls|searches)\b/u.test(message)) return { kind: 'piece' };
  if (message.startsWith('changed ')) return { kind: 'change' };
  const code = /: exit code (-?\d+)$/u.exec(message)?.[1];
  return code === undefined ? { kind: 'says' } : { kind: 'command', isBad: code !== '0' };
}

function toolDetail(payload: Fields): string | null {
  const { input, output, call } = payload;
  const given = input ?? fields(fields(call).params).arguments;
  const parts = [given === undefined ? '' : pretty(given), typeof output === 'string' ? output : pretty(output)];
  const text = parts.filter((part) => part !== '').join('\n\n');
  return text === '' ? null : text;
}

/** JSON formatted for people; empty for a missing value. */
export function pretty(value: unknown): string {
  if (value === undefined) return '';
  return typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '');
}

type Fields = Readonly<Record<string, unknown>>;

function fields(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

function words(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
