import { type BytePath, fromBytePath } from '../folders-of.ts';
import type { Copied } from './copy-files.ts';
import type { Git } from './git.ts';
import { through } from './lens.ts';

export interface ExcludeParts {
  readonly git: Git;
  readonly lens: string;
  readonly workspace: string;
  readonly objects: readonly string[];
}

/**
 * Patterns for what was copied, for one file each: what an agent adds to a copied folder is work, and so is a folder that
 * it makes in the place of a copied file. Of a folder only those files get one that are not ignored anyway; it may hold a
 * hundred thousand.
 */
export async function excludesOf({ files, folders }: Copied, parts: ExcludeParts): Promise<readonly string[]> {
  const { git, lens, workspace, objects } = parts;
  const names = new Set(files);
  if (folders.length > 0) {
    const listed = await git.run({
      args: ['--literal-pathspecs', 'ls-files', '-z', '--others', '--exclude-standard', '--', ...folders.map(asText)],
      ...through({ folder: lens, indexFile: `${lens}/index` }, workspace),
      borrowed: objects,
    });
    for (const name of listed.split('\0')) if (name !== '') names.add(name);
  }
  return [...names].map(asText).filter(isOneLine).flatMap(excludePatterns);
}

/** From the root of the workspace, this file and no other. Git has no pattern for files alone: the second frees a folder. */
function excludePatterns(name: string): readonly string[] {
  const escaped = name.replaceAll(/[\\*?[\]#!]/g, '\\$&').replace(/ +$/, (spaces) => '\\ '.repeat(spaces.length));
  return [`/${escaped}`, `!/${escaped}/`];
}

/** A name with a line end in it would be two patterns, and one that is no text another name; they get none. */
function isOneLine(name: string): boolean {
  return !/[\p{Cc}\uFFFD]/u.test(name);
}

function asText(name: BytePath): string {
  return fromBytePath(name).toString('utf8');
}
