import type { Clock } from '../../../clock/clock.ts';
import type { AgentEvent } from '../../agent.ts';
import type { EventSink } from '../../wire/event-sink.ts';
import { type Fields, fieldsOf, listOf, numberOf, shown, textOf } from '../../wire/fields.ts';
import { DeltaMerger } from '../../wire/merge-deltas.ts';
import {
  completedItem,
  type Item,
  Plan,
  resultText,
  startedItem,
  type ToolCall,
  textItem,
  thinkingItem,
} from './items.ts';
import { quotaWindowsIn, resetTime } from './quota-windows.ts';
import { type UsageMeter, usageIn } from './usage-meter.ts';

/** Limit for calls that began and may never end. */
const mostCalls = 1_000;

export interface ReporterParts {
  readonly clock: Clock;
  readonly events: EventSink;
  readonly meter: UsageMeter;
  /** A call of a tool began or ended. */
  readonly onCall: (call: ToolCall, isOver: boolean) => void;
}

/**
 * Reports the work of Claude Code as events in the vocabulary of all backends, with tokens and quota where a message
 * carries them. It decides nothing: the session decides how a turn continues.
 */
export class Reporter {
  readonly #parts: ReporterParts;
  readonly #deltas: DeltaMerger;
  readonly #calls = new Map<string, ToolCall>();
  readonly #plan = new Plan();
  /** The call of the model whose pieces arrive now. */
  #streaming = '';
  /** The kind of the last error of the model's server in this turn. */
  error: string | null = null;
  /** When the quota that is used up is available again. */
  resetsAt: number | null = null;

  constructor(parts: ReporterParts) {
    this.#parts = parts;
    this.#deltas = new DeltaMerger(parts.clock, ({ summary, ...payload }) => this.#note(summary, { payload }));
  }

  report(type: string, message: Fields): void {
    switch (type) {
      case 'assistant':
        this.#assistant(message);
        break;
      case 'user':
        this.#toolResults(message);
        break;
      case 'stream_event':
        this.#stream(message);
        break;
      case 'system':
        this.#system(message);
        break;
      case 'rate_limit_event':
        this.#quota(fieldsOf(message.rate_limit_info));
        break;
      case 'tool_progress': {
        const summary = `continues: ${shown(message.tool_name)} for ${shown(message.elapsed_time_seconds)} s`;
        this.#note(summary, { payload: { method: 'item/mcpToolCall/progress', params: message } });
        break;
      }
      default:
        if (!quiet.has(type)) this.#note(type.replaceAll('_', ' ') || 'a message without a type', { payload: message });
    }
  }

  /** A turn begins. */
  beginTurn(): void {
    this.error = null;
    this.resetsAt = null;
  }

  /** A turn has ended: reports its remaining text, and forgets calls that never ended. */
  endTurn(): void {
    this.#deltas.flush();
    for (const call of this.#calls.values()) this.#parts.onCall(call, true);
    this.#calls.clear();
  }

  #assistant(message: Fields): void {
    const { id, usage, model } = usageIn(message);
    const isSubAgent = textOf(message.parent_tool_use_id) !== null;
    this.error = isSubAgent ? this.error : textOf(message.error);
    const used = this.#parts.meter.call(id, usage, model, isSubAgent);
    for (const [index, block] of listOf(fieldsOf(message.message).content).map(fieldsOf).entries()) {
      const item = this.#begun(block, `${textOf(message.uuid) ?? id}-${index}`);
      if (item === null) continue;
      const method = block.type === 'tool_use' ? 'item/started' : 'item/completed';
      if (method === 'item/completed') this.#deltas.drop(id);
      this.#item(method, item, message, used);
    }
  }

  #begun(block: Fields, id: string): Item | null {
    const text = textOf(block.text) ?? textOf(block.thinking) ?? '';
    if (block.type === 'text') return text.trim() === '' ? null : textItem(id, text);
    if (block.type === 'thinking') return text.trim() === '' ? null : thinkingItem(id, text);
    if (block.type !== 'tool_use') return null;
    const { clock, onCall } = this.#parts;
    const call = {
      id: shown(block.id),
      name: shown(block.name),
      input: fieldsOf(block.input),
      startedAt: clock.monotonic(),
    };
    if (this.#calls.size < mostCalls) this.#calls.set(call.id, call);
    onCall(call, false);
    return startedItem(call);
  }

  #toolResults(message: Fields): void {
    for (const block of listOf(fieldsOf(message.message).content).map(fieldsOf)) {
      const call = this.#calls.get(shown(block.tool_use_id));
      if (block.type !== 'tool_result' || call === undefined) continue;
      this.#calls.delete(call.id);
      const took = Math.max(0, Math.round(this.#parts.clock.monotonic() - call.startedAt));
      this.#item('item/completed', completedItem(call, block, message.tool_use_result, took), message, null);
      this.#parts.onCall(call, true);
      const plan = block.is_error === true ? null : this.#plan.after(call, resultText(block.content));
      if (plan === null) continue;
      const current = plan.find(({ status }) => status === 'inProgress') ?? plan.at(-1);
      const summary = `plan of ${plan.length} steps: ${current?.step ?? ''}`;
      this.#note(summary, { payload: { method: 'turn/plan/updated', params: { plan } } });
    }
  }

  #item(method: string, { item, summary }: Item, message: Fields, usage: AgentEvent['usage'] | null): void {
    const parent = textOf(message.parent_tool_use_id);
    const whose = parent === null ? {} : { parentId: parent, agent: textOf(message.subagent_type) };
    if (summary === null && usage === null) return;
    const payload = { method, params: { item: { ...item, ...whose } } };
    this.#note(`${parent === null ? '' : 'sub-agent: '}${summary ?? 'tokens so far'}`, {
      payload,
      ...(usage === null || usage === undefined ? {} : { usage }),
    });
  }

  #stream(message: Fields): void {
    const event = fieldsOf(message.event);
    const { id, usage, model } = usageIn(message);
    if (event.type === 'message_start') this.#streaming = id;
    if (event.type === 'message_start' || event.type === 'message_delta') {
      const used = this.#parts.meter.call(
        id || this.#streaming,
        usage,
        model,
        textOf(message.parent_tool_use_id) !== null,
      );
      if (used === null) return;
      const summary = `tokens so far: ${used.inputTokens} in, ${used.outputTokens} out`;
      this.#note(summary, { usage: used, payload: { method: 'thread/tokenUsage/updated', params: used } });
    }
    const delta = fieldsOf(event.delta);
    const itemId = this.#streaming;
    if (delta.type === 'text_delta') this.#deltas.add('item/agentMessage/delta', { itemId, delta: delta.text });
    if (delta.type === 'thinking_delta')
      this.#deltas.add('item/reasoning/textDelta', { itemId, delta: delta.thinking });
  }

  #system(message: Fields): void {
    const subtype = textOf(message.subtype) ?? '';
    if (subtype === 'api_retry') {
      const why = `${shown(message.error)}${message.error_status === null ? '' : ` (${shown(message.error_status)})`}`;
      const summary = `trying again: ${why}, attempt ${shown(message.attempt)} of ${shown(message.max_retries)}`;
      this.#note(summary, { payload: { method: 'error', params: { willRetry: true, error: message } } });
      return;
    }
    const summary = systemSummary(subtype, message);
    if (summary !== null) this.#note(summary, { payload: message });
  }

  #quota(info: Fields): void {
    const { clock } = this.#parts;
    const quota = quotaWindowsIn(info, clock.now());
    if (info.status === 'rejected') this.resetsAt = resetTime(info, clock.now());
    const used = quota.map(({ name, usedPercent }) => `${name} ${Math.round(usedPercent)} %`);
    const payload = { method: 'account/rateLimits/updated', params: { rateLimits: info } };
    if (quota.length > 0) this.#note(`quota used: ${used.join(', ')}`, { quota, payload });
  }

  #note(summary: string, extras: Pick<AgentEvent, 'usage' | 'quota' | 'payload'>): void {
    this.#parts.events.emit('notification', summary, extras);
  }
}

/** Messages that tell a person nothing, or that the session reports itself. */
const quiet: ReadonlySet<string> = new Set([
  ...['result', 'command_lifecycle', 'control_response', 'control_request', 'control_cancel_request', 'keep_alive'],
]);
const quietSystem: ReadonlySet<string> = new Set([
  ...['init', 'thinking_tokens', 'task_updated', 'task_progress', 'background_tasks_changed', 'session_state_changed'],
  ...['hook_started', 'hook_progress', 'files_persisted', 'vcs_state_changed', 'commands_changed'],
]);

function systemSummary(subtype: string, message: Fields): string | null {
  switch (subtype) {
    case 'status':
      return message.status === 'compacting' ? 'compacts the conversation' : null;
    case 'compact_boundary':
      return 'compacted the conversation';
    case 'permission_denied':
      return `was denied ${shown(message.tool_name)}`;
    case 'task_started':
      return message.is_backgrounded === true ? `runs in the background: ${shown(message.description)}` : null;
    case 'task_notification':
      return `${shown(message.status)}: ${shown(message.summary)}`;
    case 'hook_response':
      return (numberOf(message.exit_code) ?? 0) === 0 ? null : `a hook failed: ${shown(message.hook_name)}`;
    default:
      return quietSystem.has(subtype)
        ? null
        : [subtype.replaceAll('_', ' '), textOf(message.content)].filter(Boolean).join(': ');
  }
}
