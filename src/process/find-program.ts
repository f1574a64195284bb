import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import path from 'node:path';

/** The path that `execvp` searches when the environment has no PATH. */
const pathWithoutPath = '/usr/bin:/bin';

/**
 * The file of a program, found as the child would find it: with the child's PATH and working directory. Null when
 * there is no executable file.
 */
export async function findProgram(
  command: string,
  place: { cwd: string; path: string | undefined },
): Promise<string | null> {
  const candidates = command.includes('/')
    ? [path.resolve(place.cwd, command)]
    : (place.path ?? pathWithoutPath).split(':').map((folder) => path.resolve(place.cwd, folder, command));
  for (const candidate of candidates) {
    if (await isExecutableFile(candidate)) return candidate;
  }
  return null;
}

async function isExecutableFile(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    return false;
  }
}
