import { accessSync, constants, statSync } from 'node:fs';
import path from 'node:path';

/** The path that `execvp` searches when the environment has no PATH. */
const pathWithoutPath = '/usr/bin:/bin';

/**
 * A PATH without its relative and empty elements. Those are searched in the working directory, which is a workspace: a
 * repository or an agent would choose the programs that Baton runs.
 */
export function absoluteElements(searchPath: string | undefined): string {
  const elements = (searchPath ?? pathWithoutPath).split(':').filter((folder) => path.isAbsolute(folder));
  return elements.length > 0 ? elements.join(':') : pathWithoutPath;
}

/** The elements of a PATH that `absoluteElements` removes. */
export function relativeElements(searchPath: string | undefined): readonly string[] {
  return (searchPath ?? pathWithoutPath).split(':').filter((folder) => !path.isAbsolute(folder));
}

/**
 * The file of a program: a name is searched on the PATH, which has absolute elements only; a path is resolved from the
 * working directory. Null when there is no executable file. Waits for the file system, as the start of a program does.
 */
export function findProgram(command: string, place: { cwd: string; path: string }): string | null {
  const candidates = command.includes('/')
    ? [path.resolve(place.cwd, command)]
    : place.path.split(':').map((folder) => path.join(folder, command));
  return candidates.find(isExecutableFile) ?? null;
}

function isExecutableFile(file: string): boolean {
  try {
    // Most elements of a PATH do not have the program, and an error takes long to make.
    if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true) return false;
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
