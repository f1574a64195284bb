import path from 'node:path';

/**
 * The programs that shell text names by an absolute path, with the folder of each: a program often needs the files next
 * to it. The home itself is not such a folder.
 */
export function programsIn(command: string): readonly string[] {
  const words = command.split(/\s+/).filter((word) => /^(?:\/|~\/)[\w./+@-]+$/.test(word));
  return words.flatMap((word) => (/^~\/[^/]+$/.test(word) ? [word] : [word, path.dirname(word)]));
}
