import { readFile, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { type Access, type IsolationFile, type IsolationPlan, isAtOrBelow } from './isolation-plan.ts';
import { aliasesOf, type Mount, parseMounts, visibleMounts } from './mount-table.ts';

/** A rule as it applies to the files that exist now. */
export interface LocatedRule {
  readonly access: Access;
  /** Where the child finds it, free of symbolic links. */
  readonly target: string;
  /** The file or folder itself, free of symbolic links. */
  readonly source: string;
  readonly kind: 'folder' | 'file';
}

export interface LocatedPlan {
  /** One a target, in the order of the targets, parents first. */
  readonly rules: readonly LocatedRule[];
  /** Files to be made, with the path that the child finds them at. */
  readonly files: readonly IsolationFile[];
  /** The mounts that this user can reach. A child of the same user reaches no others. */
  readonly mounts: readonly Mount[];
  /** Those of the system files asked for that exist. */
  readonly present: ReadonlySet<string>;
}

/**
 * Looks up the paths of a plan: a rule for a path that does not exist has nothing to show or to hide. A private folder
 * has no symbolic links, so a path below one stays as it is written; every other path is resolved.
 */
export async function locateRules(
  { rules, files }: IsolationPlan,
  systemFiles: readonly string[],
): Promise<LocatedPlan> {
  const mounts = visibleMounts(parseMounts(await readFile('/proc/self/mountinfo', 'utf8')));
  const sources = await Promise.all(rules.map((rule) => realpath(rule.path).catch(() => null)));
  const existing = rules.flatMap(({ path: written, access }, at) => {
    const source = sources[at];
    return source == null ? [] : [{ written, access, source }];
  });
  const covers = existing.filter(({ access }) => isCover(access));
  const belowCover = (written: string): string | null => {
    const cover = covers.findLast((each) => isAtOrBelow(written, each.written));
    return cover === undefined ? null : path.join(cover.source, path.relative(cover.written, written));
  };
  const wanted = existing.flatMap(({ written, access, source }) => {
    if (isCover(access)) {
      const aliases = aliasesOf(source, mounts).map((alias) => ({ access, target: alias, source: alias }));
      return [{ access, target: source, source }, ...aliases];
    }
    return [{ access, target: belowCover(written) ?? source, source }];
  });
  const located = await keepExisting(wanted, ({ source }) => source);
  const byTarget = new Map(located.map((rule) => [rule.target, rule]));
  const present = await keepExisting(
    systemFiles.map((file) => ({ file })),
    ({ file }) => file,
  );
  return {
    rules: [...byTarget.values()].toSorted((a, b) => (a.target < b.target ? -1 : 1)),
    files: files.flatMap((file) => {
      const target = belowCover(file.path);
      return target === null ? [] : [{ ...file, path: target }];
    }),
    mounts: await keepExisting(mounts, ({ point }) => point),
    present: new Set(present.map(({ file }) => file)),
  };
}

/** Whether an empty folder or file takes the place of the path. */
export function isCover(access: Access): boolean {
  return access === 'private' || access === 'hidden';
}

/** Those whose path this user can reach, with its kind. */
async function keepExisting<T>(
  all: readonly T[],
  pathOf: (each: T) => string,
): Promise<readonly (T & { readonly kind: 'folder' | 'file' })[]> {
  const found = await Promise.all(
    all.map(async (each) => {
      const status = await stat(pathOf(each)).catch(() => null);
      return status === null ? [] : [{ ...each, kind: status.isDirectory() ? ('folder' as const) : ('file' as const) }];
    }),
  );
  return found.flat();
}
