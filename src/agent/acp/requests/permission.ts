import { exactLine } from '../../../core/text/exact-text.ts';
import { type Approval, approvalFor, block, type Facts, json, line } from '../../questions/approval.ts';
import { type Fields, fieldsOf, listOf, textOf } from '../../wire/fields.ts';
import { commandOf, diffsIn, isEdit, nameOf, serverOf } from '../turn/items.ts';

export type PermissionAnswer = { readonly outcome: { readonly outcome: string; readonly optionId?: string } };

/** No one decides: the turn was cancelled. */
export const noDecision: PermissionAnswer = { outcome: { outcome: 'cancelled' } };

/** Fields that name the call, or repeat it for a screen. */
const notShown = ['sessionId', 'options', '_meta'];
const notShownOfCall = ['toolCallId', 'status', '_meta'];

/**
 * The approval that `session/request_permission` asks for. What must hold: a yes selects an option for this one call,
 * never one that is for always, because the protocol does not say how long that lasts: some agents write it into a
 * file. An agent that offers no such option gets a no.
 */
export function permissionOf(params: Fields): Approval<PermissionAnswer> {
  const call = fieldsOf(params.toolCall);
  const about = {
    ...without(params, notShown),
    toolCall: without(call, notShownOfCall),
  };
  return approvalFor('session/request_permission', about, factsOf(call), (decision) =>
    optionOf(params, decision === 'decline' ? 'reject_once' : 'allow_once'),
  );
}

function optionOf(params: Fields, kind: string): PermissionAnswer {
  const options = listOf(params.options).map(fieldsOf);
  const option = options.find((each) => each.kind === kind) ?? options.find((each) => each.kind === 'reject_once');
  const optionId = textOf(option?.optionId);
  return optionId === null ? noDecision : { outcome: { outcome: 'selected', optionId } };
}

function without(fields: Fields, names: readonly string[]): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)));
}

/** Kinds of calls that change something, or change what the agent may do. Tools of MCP servers are of the kind `other`. */
const changing: readonly unknown[] = ['edit', 'delete', 'move', 'execute', 'switch_mode'];

/** Everything of the call is shown: in the words of its kind, and what is left as it is. */
function factsOf(call: Fields): Facts {
  const input = fieldsOf(call.rawInput);
  const title = textOf(call.title) ?? '';
  const others = (shownFields: readonly string[]): readonly string[] => {
    const left = without(call, [...notShownOfCall, 'kind', ...shownFields]);
    return Object.entries(left).flatMap(([name, value]) =>
      value === null || JSON.stringify(value) === '[]' ? [] : block(exactLine(name), asText(value)),
    );
  };
  const command = commandOf(input);
  const base = { shown: ['toolCall'], isRead: command === null && !changing.includes(call.kind) };
  if (command !== null) {
    const { command: _shown, description: _about, ...rest } = input;
    const inWords = title === command ? ['rawInput', 'title'] : ['rawInput'];
    const detail = [...block('Command', command), ...fieldBlocks(rest), ...others(inWords)];
    return { ...base, kind: 'command', text: `The agent wants to run ${exactLine(command)}`, detail };
  }
  const diffs = diffsIn(call.content);
  const path = diffs[0]?.path ?? null;
  if (isEdit(call) && path !== null) {
    const texts = diffs.flatMap(({ path: file, diff }) => [`File: ${exactLine(file)}`, ...block('Change', diff)]);
    const detail = [...texts, ...others(['content', 'title']), ...contentBlocks(call.content)];
    return { ...base, kind: 'file_change', text: `The agent wants to change ${exactLine(path)}`, detail };
  }
  const { server, tool } = serverOf(nameOf(call) ?? title);
  const detail = [...line('Server', server), ...line('Tool', tool), ...others(tool === title ? ['title'] : [])];
  const missing = tool === '' && call.rawInput === undefined ? { missing: 'it does not say what it wants to do' } : {};
  return { ...base, kind: 'tool', text: `The agent wants to use a tool: ${exactLine(tool)}`, detail, ...missing };
}

/** What an edit shows besides its diffs. */
function contentBlocks(content: unknown): readonly string[] {
  const others = listOf(content).filter((each) => fieldsOf(each).type !== 'diff');
  return others.length === 0 ? [] : block('content', json(others));
}

function fieldBlocks(fields: Fields): readonly string[] {
  return Object.entries(fields).flatMap(([name, value]) => block(exactLine(name), asText(value)));
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : json(value);
}
