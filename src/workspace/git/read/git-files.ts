import { BatonError } from '../../../core/baton-error.ts';
import { harmlessLine } from '../../../core/text/harmless-line.ts';
import { lstatOrNull } from '../../file-system.ts';
import { readPlainFile } from '../../read-small-file.ts';
import { type BytePath, fromBytePath } from '../../walk-folders.ts';

/** A file of a git directory that holds a line or a few. */
const mostLineBytes = 64 * 1024;

/** A file of a git directory that holds a list: references, a log. */
export const mostListBytes = 16 * 1024 * 1024;

/** The bytes of a file of a git directory; null when there is none. Throws for anything but a plain file. */
export async function textIn(file: BytePath, mostBytes: number = mostLineBytes): Promise<BytePath | null> {
  return (await readPlainFile(file, mostBytes))?.toString('latin1') ?? null;
}

/** Whether there is a folder. Throws for anything else, above all a link. */
export async function isFolder(folder: BytePath): Promise<boolean> {
  const found = await lstatOrNull(fromBytePath(folder));
  if (found === null) return false;
  if (found.isDirectory()) return true;
  throw notUnderstood(`${shown(folder)} is not a directory.`);
}

/** Whether there is this folder below another, no link on the way. */
export async function isFolderIn(folder: BytePath, ...below: readonly string[]): Promise<boolean> {
  let at = folder;
  for (const name of below) {
    at = `${at}/${name}`;
    if (!(await isFolder(at))) return false;
  }
  return true;
}

/** An id of an object at the beginning of a text, alone or before a space. */
export function idIn(text: string): string | null {
  return /^([0-9a-f]{40}(?:[0-9a-f]{24})?)(?:\s|$)/.exec(text)?.[1] ?? null;
}

export function withoutLineEnd(text: string): string {
  let end = text.length;
  while (end > 0 && (text[end - 1] === '\n' || text[end - 1] === '\r')) end -= 1;
  return text.slice(0, end);
}

/** Git's notion of "no object". */
export function isNoId(id: string): boolean {
  return /^0+$/.test(id);
}

/** A path as text. Throws for a path that is not text, because no program could receive it. */
export function pathText(path: BytePath): string {
  const text = utf8(path);
  if (text === null || text.includes('\0')) throw notUnderstood(`The path ${shown(path)} is not valid text.`);
  return text;
}

/** A name as text, for any bytes. */
export function nameText(name: BytePath): string {
  return utf8(name) ?? name.replaceAll(/[^ -~]/g, (byte) => `%${byte.charCodeAt(0).toString(16).padStart(2, '0')}`);
}

function utf8(bytes: BytePath): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(fromBytePath(bytes));
  } catch {
    return null;
  }
}

/** Unknown counts as dirty: a caller that gets this error keeps the workspace. */
export function notUnderstood(message: string, cause?: unknown): BatonError {
  return new BatonError('workspace_unavailable', message, {
    nextStep: 'Check the git directory of the workspace. Baton keeps a workspace that it does not understand.',
    ...(cause === undefined ? {} : { cause }),
  });
}

export function shown(path: BytePath): string {
  return harmlessLine(nameText(path)).slice(0, 300);
}
