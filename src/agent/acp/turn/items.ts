import { type Fields, fieldsOf, listOf, numberOf, shown, textOf } from '../../wire/fields.ts';
import { ownServer } from '../presets.ts';

/** One thing that the agent did, in the words that transcripts have for every backend, and its line for people. */
export interface Item {
  readonly item: Readonly<Record<string, unknown>>;
  readonly summary: string;
}

/** A call of a tool from its start to its result: what all updates said about it. */
export interface ToolCall {
  readonly id: string;
  /** The last value of each field. */
  fields: Fields;
  /** Output that came in pieces. */
  output: string;
  isStarted: boolean;
  /** Monotonic. */
  readonly startedAt: number;
}

const mostOutput = 65_536;

/** Adds what an update says. */
export function update(call: ToolCall, fields: Fields): void {
  const said = Object.entries(fields).filter(([, value]) => value !== null && value !== undefined);
  const meta = { ...fieldsOf(call.fields._meta), ...fieldsOf(fields._meta) };
  call.fields = { ...call.fields, ...Object.fromEntries(said), _meta: meta };
  const piece = fieldsOf(fieldsOf(fields._meta).terminal_output_delta).data;
  if (typeof piece === 'string') call.output = (call.output + piece).slice(-mostOutput);
}

export function textItem(id: string, text: string): Item {
  return { item: { type: 'agentMessage', id, text }, summary: text };
}

export function thinkingItem(id: string, text: string): Item {
  return { item: { type: 'reasoning', id, summary: [text], content: [] }, summary: `thinks: ${text}` };
}

export function startedItem({ id, fields }: ToolCall): Item {
  const input = fieldsOf(fields.rawInput);
  const title = textOf(fields.title) ?? '';
  const { server, tool } = callOf(fields);
  const command = fields.kind === 'execute' && server === '' ? (commandOf(input) ?? title) : null;
  if (command !== null) return { item: { type: 'commandExecution', id, command }, summary: `runs ${command}` };
  const changes = changesOf(fields);
  if (isEdit(fields) && changes.length > 0)
    return { item: { type: 'fileChange', id, changes }, summary: `changes ${pathsOf(changes)}` };
  const args = server === '' ? fields.rawInput : (input.arguments ?? fields.rawInput);
  const item = { type: server === '' ? 'toolCall' : 'mcpToolCall', id, server, tool, arguments: args ?? {} };
  return { item, summary: `calls ${wordsOf(fields)}` };
}

/** `shownOutput` is the output of a terminal of Baton that the call shows, where it shows one. */
export function completedItem(call: ToolCall, shownOutput: TerminalOutput | null, durationMs: number): Item {
  const { fields } = call;
  const { item } = startedItem(call);
  const isError = fields.status === 'failed';
  const common = { ...item, status: isError ? 'failed' : 'completed', durationMs };
  const text = shownOutput?.output || call.output || resultText(fields);
  if (item.type === 'commandExecution') {
    const exitCode = shownOutput?.exitCode ?? exitCodeOf(fields) ?? (isError ? null : 0);
    const summary = `${shown(item.command)}: ${exitCode === null ? 'failed' : `exit code ${exitCode}`}`;
    return { item: { ...common, aggregatedOutput: text, exitCode }, summary };
  }
  if (item.type === 'fileChange')
    return { item: common, summary: `changed ${pathsOf(changesOf(fields))}${isError ? ' (failed)' : ''}` };
  const summary = `${wordsOf(fields)}: ${isError ? `failed: ${text}` : 'completed'}`;
  return { item: { ...common, ...(isError ? { error: text } : { result: text }) }, summary };
}

export interface TerminalOutput {
  readonly output: string;
  readonly exitCode: number | null;
}

export function isEdit({ kind }: Fields): boolean {
  return kind === 'edit' || kind === 'delete' || kind === 'move';
}

/** The command of a call, as text or as a list of words. */
export function commandOf(input: Fields): string | null {
  if (Array.isArray(input.command)) return input.command.map(shown).join(' ');
  return textOf(input.command);
}

/** The name of the tool, which only some agents say. */
export function nameOf(fields: Fields): string | null {
  return textOf(fieldsOf(fieldsOf(fields._meta).claudeCode).toolName) ?? textOf(fields.name);
}

/** `mcp__server__tool`; some agents write `server_tool`, which only the name of Baton's own server tells. */
export function serverOf(name: string): { readonly server: string; readonly tool: string } {
  const [, server = '', tool = name] = /^mcp__(.+?)__(.+)$/s.exec(name) ?? ownTool.exec(name) ?? [];
  return { server, tool };
}

const ownTool = new RegExp(`^(${ownServer})_(.+)$`, 's');

function callOf(fields: Fields): { readonly server: string; readonly tool: string } {
  const { server, tool } = fieldsOf(fields.rawInput);
  if (typeof server === 'string' && typeof tool === 'string') return { server, tool };
  return serverOf(nameOf(fields) ?? textOf(fields.title) ?? '');
}

function wordsOf(fields: Fields): string {
  const { server, tool } = callOf(fields);
  const title = textOf(fields.title) ?? '';
  return [server, tool, title === tool || serverOf(title).tool === tool ? '' : title].filter(Boolean).join(' ');
}

export interface Diff {
  readonly path: string;
  readonly isNew: boolean;
  readonly diff: string;
}

/** The changes of files in the content of a call. */
export function diffsIn(content: unknown): readonly Diff[] {
  return listOf(content)
    .map(fieldsOf)
    .filter(({ type }) => type === 'diff')
    .map(({ path, oldText, newText }) => ({
      path: textOf(path) ?? '?',
      isNew: textOf(oldText) === null,
      diff: diffOf(textOf(oldText), textOf(newText) ?? ''),
    }));
}

function changesOf(fields: Fields): readonly { readonly path: string; readonly kind: object; readonly diff: string }[] {
  const diffs = diffsIn(fields.content);
  if (diffs.length > 0)
    return diffs.map(({ path, isNew, diff }) => ({ path, kind: { type: isNew ? 'add' : 'update' }, diff }));
  const input = fieldsOf(fields.rawInput);
  const file = textOf(input.filePath) ?? textOf(input.file_path) ?? textOf(input.path);
  const written = textOf(input.content);
  if (file !== null && written !== null) return [{ path: file, kind: { type: 'add' }, diff: written }];
  const paths = listOf(fields.locations).flatMap((each) => textOf(fieldsOf(each).path) ?? []);
  return paths.map((path) => ({ path, kind: { type: fields.kind === 'delete' ? 'delete' : 'update' }, diff: '' }));
}

function pathsOf(changes: readonly { readonly path: string }[]): string {
  return changes.map(({ path }) => path).join(', ') || 'files';
}

/** The new text of a new file; otherwise the lines that differ, from the first to the last. */
function diffOf(oldText: string | null, newText: string): string {
  if (oldText === null) return newText;
  const before = oldText.split('\n');
  const after = newText.split('\n');
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < before.length - start && end < after.length - start && before.at(-1 - end) === after.at(-1 - end))
    end += 1;
  const lines = [
    ...before.slice(start, before.length - end).map((each) => `-${each}`),
    ...after.slice(start, after.length - end).map((each) => `+${each}`),
  ];
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`;
}

/** What the call answered: its content, or its raw output. */
function resultText(fields: Fields): string {
  const texts = listOf(fields.content)
    .map((each) => fieldsOf(fieldsOf(each).content))
    .flatMap(({ type, text }) => textOf(text) ?? (type === undefined ? [] : [`[${shown(type)}]`]));
  // Some agents write the output of a command as Markdown.
  if (texts.length > 0) return texts.join('\n').replace(/^```\w*\n([\s\S]*)\n```$/, '$1');
  const raw = fieldsOf(fields.rawOutput);
  return textOf(raw.output) ?? textOf(raw.error) ?? shown(fields.rawOutput);
}

function exitCodeOf(fields: Fields): number | null {
  const raw = fieldsOf(fields.rawOutput);
  const exit = fieldsOf(fieldsOf(fields._meta).terminal_exit);
  const inWords = /^Exit code (\d+)/.exec(resultText(fields))?.[1];
  return numberOf(exit.exit_code ?? raw.exit_code ?? raw.exitCode ?? fieldsOf(raw.metadata).exit ?? inWords);
}

/** The steps of a plan, in the words of transcripts. */
export function planOf(entries: unknown): readonly { readonly step: string; readonly status: string }[] {
  return listOf(entries)
    .slice(0, mostSteps)
    .map(fieldsOf)
    .map(({ content, status }) => ({
      step: textOf(content) ?? '',
      status: status === 'in_progress' ? 'inProgress' : shown(status),
    }));
}

const mostSteps = 1_000;
