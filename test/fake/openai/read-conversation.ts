/** The conversation in a request to the Responses API. */
export interface Conversation {
  /** The same for all requests of a thread, if the client sends it. */
  readonly id: string;
  /** The last thing the user said. */
  readonly said: string;
  /** How many rounds of tool output followed. */
  readonly round: number;
  /** The last of those outputs; empty when there is none. */
  readonly lastOutput: string;
  /** Everything that users, assistants and tools said, oldest first, as one text: what the model remembers. */
  readonly memory: string;
  readonly toolNames: readonly string[];
}

export function readConversation(body: unknown): Conversation {
  const request = asRecord(body);
  const items = Array.isArray(request.input) ? request.input.map(asRecord) : [];
  const lastUser = items.findLastIndex((item) => item.role === 'user' && !isAddedByClient(textOf(item.content)));
  const outputs = items.slice(lastUser + 1).map((item) => (isOutput(item) ? textOf(item.output) : null));
  return {
    id: String(request.prompt_cache_key ?? ''),
    said: textOf(items[lastUser]?.content),
    // Outputs of calls that were made together stand side by side.
    round: outputs.filter((output, index) => output !== null && (outputs[index - 1] ?? null) === null).length,
    lastOutput: outputs.findLast((output) => output !== null) ?? '',
    memory: items.map((item) => textOf(isOutput(item) ? item.output : item.content)).join('\n'),
    toolNames: toolNamesOf(request.tools),
  };
}

/** Agents add messages in the name of the user: the folder, the rules of the project, that a turn was given up. */
function isAddedByClient(text: string): boolean {
  return /^\s*(<[a-z_]+[ >]|# AGENTS\.md)/.test(text);
}

function isOutput(item: Record<string, unknown>): boolean {
  return typeof item.type === 'string' && item.type.endsWith('_output');
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (Array.isArray(content)) return content.map((part) => String(asRecord(part).text ?? '')).join('\n');
  return content === undefined ? '' : JSON.stringify(content);
}

function toolNamesOf(tools: unknown): string[] {
  return (Array.isArray(tools) ? tools : []).map(asRecord).map(({ name, type }) => String(name ?? type));
}

function asRecord(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
