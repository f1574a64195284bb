import { escapeControls } from './harmless-text.ts';
import type { LogLevel } from './log-level.ts';

const plain = '\u001b[0m';
const dim = '\u001b[2m';
const colorOf: Readonly<Record<LogLevel, string>> = {
  debug: dim,
  info: '\u001b[32m',
  warn: '\u001b[33m',
  error: '\u001b[31m',
};

/** A JSON line of the log as a person reads it: time, level, message, `key=value`; a stack follows on its own lines. */
export function terminalLine(json: string, color: boolean): string {
  // The sentence has the meaning of the code.
  const { time, level, msg, event: _, ...fields } = JSON.parse(json);
  const paint = (style: string, text: string): string => (color ? `${style}${text}${plain}` : text);
  const pairs = flatten(fields).filter(([key]) => !isStack(key));
  const parts = [
    paint(dim, time),
    paint(colorOf[level as LogLevel], level.toUpperCase().padEnd(5)),
    escapeControls(msg),
    ...pairs.map(([key, value]) => `${paint(dim, `${escapeControls(key)}=`)}${shown(value)}`),
  ];
  const stacks = flatten(fields).filter(([key]) => isStack(key));
  const below = stacks.flatMap(([, stack]) => String(stack).split('\n').map(escapeControls));
  return [parts.join(' '), ...below.map((line) => paint(dim, `    ${line.trim()}`))].join('\n').concat('\n');
}

/** `{ error: { code } }` becomes `error.code`; lists stay lists. */
function flatten(fields: Record<string, unknown>, prefix = ''): [string, unknown][] {
  return Object.entries(fields).flatMap(([key, value]): [string, unknown][] =>
    isObject(value) ? flatten(value, `${prefix}${key}.`) : [[`${prefix}${key}`, value]],
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0;
}

function isStack(key: string): boolean {
  return key.endsWith('.stack');
}

/** Without quotes when that is unambiguous, otherwise as JSON. */
function shown(value: unknown): string {
  const isBare = typeof value === 'string' && /^[^\s"'=\\]+$/.test(value) && escapeControls(value) === value;
  return isBare ? value : escapeControls(JSON.stringify(value));
}
