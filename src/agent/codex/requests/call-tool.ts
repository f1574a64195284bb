import type { ToolDoor } from '../../../core/tool-door.ts';
import { unsupportedTool } from '../fixed-texts.ts';
import type { EventTeller } from '../turn/event-teller.ts';
import type { CodexAnswer } from '../wire/connection.ts';
import { type Fields, textOf } from '../wire/fields.ts';

/** Carries a call of a dynamic tool to the door of the run, and the answer back (1.10 of the reference). */
export async function callTool(
  params: Fields,
  door: ToolDoor,
  teller: EventTeller,
  payload: Fields,
  signal: AbortSignal,
): Promise<CodexAnswer> {
  const name = (textOf(params.tool) ?? textOf(params.name) ?? '').trim();
  const supportedTools = door.tools.map((tool) => tool.name);
  if (!supportedTools.includes(name)) {
    teller.tell('unsupported_tool_call', `called ${name === '' ? 'a tool without a name' : name}, which is not there`, {
      payload,
    });
    return answer(false, JSON.stringify({ error: { message: unsupportedTool(name), supportedTools } }, null, 2));
  }
  const { success, output } = await door.call(name, params.arguments ?? {}, signal);
  teller.tell(success ? 'tool_call_completed' : 'tool_call_failed', `${name}: ${output}`, {
    payload: { call: payload, success, output },
  });
  return answer(success, output);
}

function answer(success: boolean, text: string): CodexAnswer {
  return { result: { success, contentItems: [{ type: 'inputText', text }] } };
}
