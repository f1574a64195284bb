import type { Clock } from '../../../clock/clock.ts';
import type { AgentEvent } from '../../agent.ts';
import type { EventSink } from '../../wire/event-sink.ts';
import { type Fields, fieldsOf, listOf, numberOf, shown, textOf } from '../../wire/fields.ts';
import { DeltaMerger } from '../../wire/merge-deltas.ts';
import {
  completedItem,
  type Item,
  planOf,
  startedItem,
  type TerminalOutput,
  type ToolCall,
  textItem,
  thinkingItem,
  update as updateCall,
} from './items.ts';
import type { UsageMeter } from './usage-meter.ts';

/** Limit for calls that began and may never end. */
const mostCalls = 1_000;
/** The most of one message that is kept; the rest is counted as heard. */
const longestText = 262_144;

export interface ReporterParts {
  readonly clock: Clock;
  readonly events: EventSink;
  readonly meter: UsageMeter;
  /** The output of a terminal of Baton. */
  readonly terminal: (terminalId: string) => TerminalOutput | null;
}

/**
 * Reports the updates of an agent as events in the vocabulary of all backends. It decides nothing: the session decides
 * how a turn continues. The protocol streams a message in pieces and does not mark its end: it ends with the first
 * update about something else.
 */
export class Reporter {
  readonly #parts: ReporterParts;
  readonly #deltas: DeltaMerger;
  readonly #calls = new Map<string, ToolCall>();
  #message: { readonly id: string; readonly kind: 'text' | 'thought'; text: string } | null = null;
  #messages = 0;
  /** A tool has answered: what the model says next is another call of it. */
  #hasResult = false;
  /** What the agent said last in this turn. */
  lastMessage: string | null = null;
  /** When a used-up quota is available again, where the agent says it: Claude does for a plan. */
  resetsAt: number | null = null;

  constructor(parts: ReporterParts) {
    this.#parts = parts;
    this.#deltas = new DeltaMerger(parts.clock, ({ summary, ...payload }) => this.#note(summary, { payload }));
  }

  beginTurn(): void {
    this.#endMessage();
    this.#hasResult = false;
    this.lastMessage = null;
    this.resetsAt = null;
  }

  /** A turn has ended: reports its remaining text, and forgets calls that never ended. */
  endTurn(): void {
    this.#endMessage();
    this.#deltas.flush();
    this.#calls.clear();
  }

  /** `session` is that of a sub-agent; null for the session itself. */
  report(update: Fields, session: string | null): void {
    const parent = session ?? parentIn(update);
    const kind = textOf(update.sessionUpdate) ?? '';
    if (parent === null && this.#hasResult && beginsWork(kind)) {
      this.#hasResult = false;
      this.#parts.meter.nextCall();
    }
    switch (kind) {
      case 'agent_message_chunk':
      case 'agent_thought_chunk':
        if (parent === null) this.#chunk(kind === 'agent_message_chunk' ? 'text' : 'thought', update);
        break;
      case 'tool_call':
      case 'tool_call_update':
        this.#call(update, parent);
        break;
      case 'plan': {
        const plan = planOf(update.entries);
        const current = plan.find(({ status }) => status === 'inProgress') ?? plan.at(-1);
        const payload = { method: 'turn/plan/updated', params: { plan } };
        this.#note(`plan of ${plan.length} steps: ${current?.step ?? ''}`, { payload });
        break;
      }
      case 'usage_update':
        this.#usage(update, session, parent);
        break;
      case 'subagent_update':
        if (textOf(update.description) !== null)
          this.#note(`starts a sub-agent: ${textOf(update.description)}`, { payload: update });
        break;
      default:
        if (!quiet.has(kind)) this.#note(wordsFor(kind, update), { payload: update });
    }
  }

  #usage(update: Fields, session: string | null, parent: string | null): void {
    const { meter } = this.#parts;
    const { status, resetsAt } = fieldsOf(fieldsOf(update._meta)['_claude/rateLimit']);
    if (status === 'rejected') this.resetsAt = numberOf(resetsAt);
    const usage = session !== null ? meter.helperCall(update) : parent === null ? meter.progress(update) : null;
    if (usage === null) return;
    const payload = { method: 'thread/tokenUsage/updated', params: usage };
    this.#note(`tokens so far: ${usage.totalTokens}`, { usage, payload });
  }

  #chunk(kind: 'text' | 'thought', update: Fields): void {
    const content = fieldsOf(update.content);
    const text = textOf(content.text) ?? (content.type === undefined ? '' : `[${shown(content.type)}]`);
    if (text === '') return;
    const id = textOf(update.messageId);
    const open = this.#message;
    if (open === null || open.kind !== kind || (id !== null && open.id !== id)) {
      this.#endMessage();
      this.#messages += 1;
      this.#message = { id: id ?? `message-${this.#messages}`, kind, text: '' };
    }
    const message = this.#message;
    if (message === null) return;
    if (message.text.length < longestText) message.text += text.slice(0, longestText - message.text.length);
    const method = kind === 'text' ? 'item/agentMessage/delta' : 'item/reasoning/textDelta';
    this.#deltas.add(method, { itemId: message.id, delta: text });
  }

  #endMessage(): void {
    const message = this.#message;
    this.#message = null;
    if (message === null) return;
    this.#deltas.drop(message.id);
    if (message.text.trim() === '') return;
    const { id, kind, text } = message;
    if (kind === 'text') this.lastMessage = text;
    this.#item('item/completed', kind === 'text' ? textItem(id, text) : thinkingItem(id, text), null);
  }

  #call(update: Fields, parent: string | null): void {
    if (parent === null) this.#endMessage();
    const id = shown(update.toolCallId);
    const call = this.#calls.get(id) ?? {
      id,
      fields: {},
      output: '',
      isStarted: false,
      startedAt: this.#parts.clock.monotonic(),
    };
    updateCall(call, update);
    if (this.#calls.has(id) || this.#calls.size < mostCalls) this.#calls.set(id, call);
    const { status, rawInput } = call.fields;
    if (status === 'completed' || status === 'failed') {
      this.#calls.delete(id);
      if (parent === null) this.#hasResult = true;
      const took = Math.max(0, Math.round(this.#parts.clock.monotonic() - call.startedAt));
      this.#item('item/completed', completedItem(call, this.#terminalOf(call), took), parent ?? parentIn(call.fields));
    } else if (!call.isStarted && (status === 'in_progress' || Object.keys(fieldsOf(rawInput)).length > 0)) {
      call.isStarted = true;
      this.#item('item/started', startedItem(call), parent);
    }
  }

  #terminalOf({ fields }: ToolCall): TerminalOutput | null {
    const shownIn = listOf(fields.content).map((each) => textOf(fieldsOf(each).terminalId));
    const id = shownIn.find((each) => each !== null);
    return id === undefined ? null : this.#parts.terminal(id);
  }

  #item(method: string, { item, summary }: Item, parent: string | null): void {
    const whose = parent === null ? {} : { parentId: parent };
    const payload = { method, params: { item: { ...item, ...whose } } };
    this.#note(`${parent === null ? '' : 'sub-agent: '}${summary}`, { payload });
  }

  #note(summary: string, extras: Pick<AgentEvent, 'usage' | 'quota' | 'payload'>): void {
    this.#parts.events.emit('notification', summary, extras);
  }
}

/** The call that started the sub-agent of an update, as claude-agent-acp reports it. */
function parentIn({ _meta }: Fields): string | null {
  return textOf(fieldsOf(fieldsOf(_meta).claudeCode).parentToolUseId);
}

/** Updates that tell a person nothing about the work. */
const quiet: ReadonlySet<string> = new Set([
  ...['user_message_chunk', 'available_commands_update', 'session_info_update', 'config_option_update'],
  ...['current_mode_update', 'compaction_summary_chunk'],
]);

/** Updates with which an agent shows that it works on a prompt. */
export function isWork(kind: unknown): boolean {
  return typeof kind === 'string' && !quiet.has(kind);
}

/** Updates with which work begins: others may come after the end of a turn. */
export function beginsWork(kind: unknown): boolean {
  return kind === 'agent_message_chunk' || kind === 'agent_thought_chunk' || kind === 'tool_call';
}

function wordsFor(kind: string, update: Fields): string {
  const words = [
    kind.replaceAll('_', ' ') || 'an update without a kind',
    textOf(update.message),
    textOf(update.status),
  ];
  return words.filter(Boolean).join(': ');
}
