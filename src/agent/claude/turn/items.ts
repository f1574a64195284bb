import { type Fields, fieldsOf, listOf, numberOf, shown, textOf } from '../../wire/fields.ts';

/**
 * One thing that Claude Code did, in the words that transcripts have for every backend: the item as it is shown, and
 * its line for people. A line that is null tells a person nothing.
 */
export interface Item {
  readonly item: Readonly<Record<string, unknown>>;
  readonly summary: string | null;
}

/** A call of a tool from its start to its result. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly input: Fields;
  /** Monotonic. */
  readonly startedAt: number;
}

export const editors: ReadonlySet<string> = new Set(['Edit', 'Write', 'MultiEdit', 'NotebookEdit']);

export function isEditor(name: string): boolean {
  return editors.has(name);
}

export function textItem(id: string, text: string): Item {
  return { item: { type: 'agentMessage', id, text }, summary: text };
}

export function thinkingItem(id: string, text: string): Item {
  return { item: { type: 'reasoning', id, summary: [text], content: [] }, summary: `thinks: ${text}` };
}

export function startedItem({ id, name, input }: ToolCall): Item {
  if (name === 'Bash')
    return { item: { type: 'commandExecution', id, command: commandOf(input) }, summary: `runs ${commandOf(input)}` };
  if (isEditor(name)) return { item: { type: 'fileChange', id, changes: changesOf(name, input) }, summary: null };
  const { server, tool } = serverOf(name);
  const item = { type: server === '' ? 'toolCall' : 'mcpToolCall', id, server, tool, arguments: input };
  return { item, summary: `calls ${callText(name, input)}` };
}

/** `result` is the block with the result, `details` what Claude Code adds to it, and `durationMs` the time it took. */
export function completedItem(call: ToolCall, result: Fields, details: unknown, durationMs: number): Item {
  const { item } = startedItem(call);
  const isError = result.is_error === true;
  const text = resultText(result.content);
  const common = { ...item, status: isError ? 'failed' : 'completed', durationMs };
  if (call.name === 'Bash') {
    const exitCode = exitCodeOf(isError, text);
    const { stdout, stderr } = fieldsOf(details);
    const output = [textOf(stdout), textOf(stderr)].filter((each) => each !== null && each !== '').join('\n') || text;
    const summary = `${commandOf(call.input)}: ${exitCode === null ? 'failed' : `exit code ${exitCode}`}`;
    return { item: { ...common, aggregatedOutput: output, exitCode }, summary };
  }
  if (isEditor(call.name)) {
    const path = textOf(call.input.file_path) ?? textOf(call.input.notebook_path) ?? '?';
    return { item: common, summary: `changed ${path}${isError ? ' (failed)' : ''}` };
  }
  const summary = `${callText(call.name, call.input)}: ${isError ? `failed: ${text}` : 'completed'}`;
  return { item: { ...common, ...(isError ? { error: text } : { result: text }) }, summary };
}

/** A failed command begins its result with its exit code. */
function exitCodeOf(isError: boolean, text: string): number | null {
  return isError ? numberOf(/^Exit code (\d+)/.exec(text)?.[1]) : 0;
}

function commandOf({ command }: Fields): string {
  return textOf(command) ?? 'a command';
}

/** The changed file, with its new text or with what is replaced by what. */
function changesOf(name: string, input: Fields): readonly object[] {
  const path = textOf(input.file_path) ?? textOf(input.notebook_path) ?? '?';
  if (name === 'Write') return [{ path, kind: { type: 'add' }, diff: textOf(input.content) ?? '' }];
  const edits = name === 'MultiEdit' ? listOf(input.edits).map(fieldsOf) : [input];
  const diff = edits
    .map(
      (edit) =>
        prefixed('-', textOf(edit.old_string) ?? '') +
        prefixed('+', textOf(edit.new_string) ?? textOf(edit.new_source) ?? ''),
    )
    .join('');
  return [{ path, kind: { type: 'update' }, diff }];
}

function prefixed(sign: string, text: string): string {
  return text === ''
    ? ''
    : `${text
        .split('\n')
        .map((line) => sign + line)
        .join('\n')}\n`;
}

/** `mcp__server__tool`. */
export function serverOf(name: string): { readonly server: string; readonly tool: string } {
  const [, server = '', tool = name] = /^mcp__(.+?)__(.+)$/s.exec(name) ?? [];
  return { server, tool };
}

function callText(name: string, input: Fields): string {
  const { server, tool } = serverOf(name);
  const about = [input.description, input.file_path, input.path, input.pattern, input.query, input.url]
    .map(textOf)
    .find((each) => each !== null);
  return [server, tool, about].filter((word) => word !== '' && word !== undefined).join(' ');
}

export function resultText(content: unknown): string {
  if (typeof content === 'string') return content;
  return listOf(content)
    .map((part) => textOf(fieldsOf(part).text) ?? `[${shown(fieldsOf(part).type)}]`)
    .join('\n');
}

/** The plan after a call of one of the tools that keep it; null when the call is none of them. */
export class Plan {
  /** By the id of the step. */
  readonly #steps = new Map<string, { step: string; status: string }>();

  after(
    { name, input }: ToolCall,
    result: string,
  ): readonly { readonly step: string; readonly status: string }[] | null {
    if (name === 'TodoWrite') {
      this.#steps.clear();
      for (const [index, todo] of listOf(input.todos).map(fieldsOf).entries())
        this.#steps.set(String(index), { step: textOf(todo.content) ?? '', status: statusOf(todo.status) });
    } else if (name === 'TaskCreate') {
      const id = /#(\d+)/.exec(result)?.[1] ?? String(this.#steps.size + 1);
      if (this.#steps.size < mostSteps) this.#steps.set(id, { step: textOf(input.subject) ?? '', status: 'pending' });
    } else if (name === 'TaskUpdate') {
      const known = this.#steps.get(shown(input.taskId));
      if (known === undefined) return null;
      if (input.status === 'deleted') this.#steps.delete(shown(input.taskId));
      else known.status = input.status === undefined ? known.status : statusOf(input.status);
    } else {
      return null;
    }
    return [...this.#steps.values()].map((each) => ({ ...each }));
  }
}

const mostSteps = 1_000;

const statusOf = (status: unknown): string => (status === 'in_progress' ? 'inProgress' : shown(status));
