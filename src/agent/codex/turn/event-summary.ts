import { type Fields, fieldsOf, firstOf, listOf, numberOf, shown, textOf } from '../../wire/fields.ts';

/**
 * A frame as one line for people, for display only. Null for frames that tell a person nothing: state that other frames
 * report better, or answers to Baton's own requests. An unknown frame is shown by its name, so that nothing new is lost.
 */
export function summaryOfFrame(method: string, params: Fields): string | null {
  if (quiet.has(method)) return null;
  const summarize = Object.hasOwn(byMethod, method) ? byMethod[method] : undefined;
  if (summarize !== undefined) return summarize(params);
  if (method.startsWith('codex/event/')) return olderEvent(method.slice('codex/event/'.length), fieldsOf(params.msg));
  return spaced(method);
}

const quiet: ReadonlySet<string> = new Set([
  ...['remoteControl/status/changed', 'serverRequest/resolved', 'account/updated', 'skills/changed'],
  ...['thread/started', 'thread/closed', 'thread/readState/changed', 'thread/settings/updated', 'thread/name/updated'],
  ...['thread/goal/cleared', 'turn/started', 'turn/moderationMetadata', 'item/reasoning/summaryPartAdded'],
  ...['thread/tokenUsage/updated', 'codex/event/token_count'],
  ...['codex/event/agent_message_delta', 'codex/event/agent_reasoning_delta', 'codex/event/agent_message'],
  ...['codex/event/exec_command_output_delta', 'codex/event/agent_message_content_delta'],
  ...['codex/event/item_started', 'codex/event/item_completed', 'codex/event/mcp_startup_update'],
]);

const byMethod: Readonly<Record<string, (params: Fields) => string | null>> = {
  'item/started': ({ item }) => itemStarted(fieldsOf(item)),
  'item/completed': ({ item }) => itemCompleted(fieldsOf(item)),
  'account/rateLimits/updated': (params) => quota(fieldsOf(firstOf(params, 'rateLimits', 'rate_limits'))),
  'thread/status/changed': ({ status }) => waiting(listOf(fieldsOf(status).activeFlags)),
  'thread/compacted': () => 'compacted the conversation',
  'turn/plan/updated': ({ plan }) => `plan of ${listOf(plan).length} steps: ${currentStep(listOf(plan))}`,
  'turn/diff/updated': ({ diff }) => `changes so far: ${diffSize(textOf(diff) ?? '')}`,
  'model/rerouted': (params) => `model changed to ${textOf(params.toModel) ?? 'another one'}`,
  'mcpServer/startupStatus/updated': ({ name, status, error }) =>
    status === 'starting' ? null : `tool server ${shown(name)} is ${shown(status)}: ${shown(error)}`,
  error: (params) => {
    const words = textOf(fieldsOf(params.error).message) ?? textOf(params.message) ?? 'no reason given';
    return params.willRetry === true ? `trying again: ${words}` : `error: ${words}`;
  },
  warning: ({ message }) => `warning: ${shown(message)}`,
  guardianWarning: ({ message }) => `warning: ${shown(message)}`,
  configWarning: ({ summary, details }) => `warning about the settings: ${shown(summary ?? details)}`,
  deprecationNotice: ({ summary, details }) => `deprecated: ${shown(summary ?? details)}`,
};

function itemStarted(item: Fields): string | null {
  switch (item.type) {
    case 'commandExecution':
      return `runs ${textOf(item.command) ?? 'a command'}`;
    case 'mcpToolCall':
      return `calls ${textOf(item.server) ?? ''} ${textOf(item.tool) ?? 'a tool'}`;
    case 'webSearch':
      return `searches the web: ${textOf(item.query) ?? ''}`;
    case 'contextCompaction':
      return 'compacts the conversation';
    // Messages, reasoning and changes are shown when they are complete; a dynamic tool is shown by its call.
    default:
      return null;
  }
}

function itemCompleted(item: Fields): string | null {
  switch (item.type) {
    case 'agentMessage':
    case 'plan':
      return textOf(item.text) ?? '';
    case 'reasoning':
      return `thinks: ${[...listOf(item.summary), ...listOf(item.content)].map(shown).join(' ')}`;
    case 'commandExecution':
      return `${textOf(item.command) ?? 'command'}: ${commandEnd(item)}`;
    case 'fileChange':
      return `changed ${changedFiles(item)}${item.status === 'completed' ? '' : ` (${shown(item.status)})`}`;
    case 'mcpToolCall':
      return `${textOf(item.server) ?? ''} ${textOf(item.tool) ?? 'tool'}: ${shown(item.status)}`;
    case 'userMessage':
    case 'dynamicToolCall':
      return null;
    case 'contextCompaction':
      return 'compacted the conversation';
    default:
      return `${spaced(textOf(item.type) ?? 'item')} done`;
  }
}

function commandEnd(item: Fields): string {
  const code = numberOf(item.exitCode);
  return code === null ? shown(item.status) : `exit code ${code}`;
}

function changedFiles(item: Fields): string {
  const paths = listOf(item.changes).map((change) => textOf(fieldsOf(change).path) ?? '?');
  const shown = paths.slice(0, 5).join(', ');
  return paths.length > 5 ? `${shown} and ${paths.length - 5} more` : shown || 'files';
}

function quota(limits: Fields): string | null {
  const windows = ['primary', 'secondary'].flatMap((name) => {
    const used = firstOf(fieldsOf(limits[name]), 'usedPercent', 'used_percent');
    return used === undefined ? [] : [`${name} ${shown(used)} %`];
  });
  return windows.length === 0 ? null : `quota used: ${windows.join(', ')}`;
}

function waiting(flags: readonly unknown[]): string | null {
  if (flags.includes('waitingOnApproval')) return 'waits for an approval';
  return flags.includes('waitingOnUserInput') ? 'waits for an answer' : null;
}

function currentStep(plan: readonly unknown[]): string {
  const steps = plan.map(fieldsOf);
  const current = steps.find(({ status }) => status === 'inProgress') ?? steps.at(-1);
  return textOf(current?.step) ?? '';
}

function diffSize(diff: string): string {
  return `${diff.match(/^\+(?!\+\+)/gm)?.length ?? 0} lines added, ${diff.match(/^-(?!--)/gm)?.length ?? 0} removed`;
}

function olderEvent(name: string, message: Fields): string | null {
  const words = textOf(message.message) ?? textOf(message.text);
  return words === null ? spaced(name) : `${spaced(name)}: ${words}`;
}

function spaced(name: string): string {
  return name
    .replaceAll(/[/_]/g, ' ')
    .replaceAll(/([a-z])([A-Z])/g, (_, a: string, b: string) => `${a} ${b.toLowerCase()}`);
}
