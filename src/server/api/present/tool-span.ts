import type { Span } from '../../../client/schema/run.ts';
import { certainTime } from '../../../core/text/time-text.ts';
import type { TranscriptEvent } from './transcript-payloads.ts';

/** Something an agent did by itself, such as a command. Some agents report its start, its end and its duration. */
export interface ToolSpan {
  readonly id: string;
  readonly span: Span;
}

const kinds: ReadonlySet<unknown> = new Set(['commandExecution', 'mcpToolCall', 'toolCall', 'fileChange', 'webSearch']);
const longestName = 200;

type Fields = Readonly<Record<string, unknown>>;

/**
 * The span that an event describes; null when it describes none. For display only: an agent may write anything, so
 * every field is checked before use, and nothing is decided by it.
 */
export function toolSpanIn({ at, payload }: TranscriptEvent): ToolSpan | null {
  const { method, params } = fieldsOf(payload);
  const item = fieldsOf(fieldsOf(params).item);
  if (typeof item.id !== 'string' || !kinds.has(item.type)) return null;
  const tool = { kind: 'tool', name: nameOf(item) } as const;
  if (method === 'item/started')
    return { id: item.id, span: { ...tool, started_at: certainTime(at), ended_at: null, is_ok: null } };
  if (method !== 'item/completed') return null;
  const { durationMs } = item;
  const took = typeof durationMs === 'number' && durationMs >= 0 && durationMs <= at ? durationMs : 0;
  const span = { ...tool, started_at: certainTime(at - took), ended_at: certainTime(at), is_ok: isOk(item) };
  return { id: item.id, span };
}

function isOk({ exitCode, status }: Fields): boolean | null {
  if (typeof exitCode === 'number') return exitCode === 0;
  return status === 'completed' ? true : status === 'failed' || status === 'declined' ? false : null;
}

function nameOf({ type, command, server, tool, query }: Fields): string {
  const words = {
    commandExecution: [command],
    mcpToolCall: [server, tool],
    toolCall: [tool],
    webSearch: ['web search', query],
  };
  const parts = words[type as keyof typeof words] ?? [];
  const name = parts.filter((word) => typeof word === 'string' && word !== '').join(' ');
  return (name === '' ? String(type) : name).slice(0, longestName);
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}
