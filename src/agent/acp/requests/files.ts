import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, realpath } from 'node:fs/promises';
import path from 'node:path';
import { type Fields, numberOf, textOf } from '../../wire/fields.ts';
import { notFound, Refused } from '../wire/connection.ts';

/** The largest file that Baton reads for an agent. */
const mostFileBytes = 8 * 1024 * 1024;

const folderFlags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
/** Without waiting for the other end of a pipe. */
const fileFlags = constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** The answer to `fs/read_text_file`. */
export async function readTextFile(roots: readonly string[], params: Fields): Promise<object> {
  const file = await openInside(roots, textOf(params.path), constants.O_RDONLY);
  try {
    const { size } = await file.stat();
    if (size > mostFileBytes) throw new Refused(`The file has more than ${mostFileBytes} bytes.`);
    const text = (await file.readFile()).toString('utf8');
    const first = Math.max(1, numberOf(params.line) ?? 1);
    const count = numberOf(params.limit);
    if (first === 1 && count === null) return { content: text };
    const lines = text.split('\n').slice(first - 1, count === null ? undefined : first - 1 + count);
    return { content: lines.join('\n') };
  } finally {
    await file.close();
  }
}

/** The answer to `fs/write_text_file`. Missing folders are made. */
export async function writeTextFile(roots: readonly string[], params: Fields): Promise<object> {
  const content = textOf(params.content);
  if (content === null) throw new Refused('The request has no content.');
  const file = await openInside(roots, textOf(params.path), constants.O_WRONLY | constants.O_CREAT);
  try {
    await file.truncate(0);
    await file.writeFile(content);
    return {};
  } finally {
    await file.close();
  }
}

/** The folder of a terminal: inside the roots, after all links. */
export async function folderInside(roots: readonly string[], folder: string): Promise<string> {
  const { root, rest } = await locate(roots, folder);
  return path.join(root, ...rest);
}

/**
 * Opens a file that is inside one of the roots after all links. What must hold: the agent can replace any part of the
 * path by a link at any time, so each folder is opened by its name in the one before, never through a link.
 */
async function openInside(roots: readonly string[], file: string | null, flags: number): Promise<FileHandle> {
  if (file === null) throw new Refused('The request has no path.');
  const { root, rest } = await locate(roots, file);
  const name = rest.at(-1);
  if (name === undefined) throw new Refused(`${file} is a folder.`);
  let folder = await open(root, folderFlags);
  try {
    for (const [index, each] of rest.slice(0, -1).entries()) {
      const at = below(folder, path.join(root, ...rest.slice(0, index)), each);
      if ((flags & constants.O_CREAT) !== 0) await mkdir(at).catch(() => {});
      const next = await open(at, folderFlags);
      await folder.close();
      folder = next;
    }
    const opened = await open(below(folder, path.join(root, ...rest.slice(0, -1)), name), flags | fileFlags);
    if ((await opened.stat()).isFile()) return opened;
    await opened.close();
    throw new Refused(`${file} is not a file.`);
  } catch (error) {
    throw refusalOf(error, file);
  } finally {
    await folder.close();
  }
}

/** Only Linux names a file by the handle of its folder; elsewhere a link that appears right now is followed. */
function below(folder: FileHandle, at: string, name: string): string {
  return process.platform === 'linux' ? `/proc/self/fd/${folder.fd}/${name}` : path.join(at, name);
}

/** The root and the names below it, after all links in the part that exists. */
async function locate(roots: readonly string[], file: string): Promise<{ root: string; rest: readonly string[] }> {
  if (!path.isAbsolute(file)) throw new Refused(`${file} is not an absolute path.`);
  const real = await realPathOf(path.resolve(file));
  for (const each of roots) {
    const root = await realpath(each);
    if (real === root) return { root, rest: [] };
    if (real.startsWith(`${root}${path.sep}`)) return { root, rest: real.slice(root.length + 1).split(path.sep) };
  }
  throw new Refused(`${file} is outside of the workspace.`);
}

async function realPathOf(file: string): Promise<string> {
  try {
    return await realpath(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || path.dirname(file) === file) throw refusalOf(error, file);
    return path.join(await realPathOf(path.dirname(file)), path.basename(file));
  }
}

function refusalOf(error: unknown, file: string): Refused {
  if (error instanceof Refused) return error;
  const code = (error as NodeJS.ErrnoException).code ?? 'an error';
  if (code === 'ENOENT') return new Refused(`${file} does not exist.`, notFound);
  return new Refused(code === 'ELOOP' ? `${file} is a link.` : `${file} cannot be opened: ${code}.`);
}
