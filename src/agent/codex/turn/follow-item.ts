import { ownServer } from '../requests/request-desk.ts';
import { type Fields, textOf } from '../wire/fields.ts';
import type { LiveTurn } from './live-turn.ts';

/** Longer than any person is waited for: after that, a call that was begun and never ended does not count any more. */
const longestToolMs = 24 * 3_600_000;
const longestId = 256;

/** What an item of a turn says about it: its last words, and that it waits for a tool of Baton's own. */
export function followItem(turn: LiveTurn, method: string, item: Fields, hasOwnServer: boolean): void {
  const id = textOf(item.id) ?? '';
  const reason = `tool ${id}`;
  const isOwnTool = hasOwnServer && item.type === 'mcpToolCall' && item.server === ownServer;
  if (method === 'item/started' && isOwnTool && id.length <= longestId) turn.hold(reason, longestToolMs);
  if (method !== 'item/completed') return;
  turn.release(reason);
  if (item.type === 'agentMessage') turn.lastMessage = textOf(item.text);
}
