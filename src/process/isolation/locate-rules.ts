import { readFileSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { type Access, type IsolationFile, type IsolationPlan, isAtOrBelow, isCover } from './isolation-plan.ts';
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
 *
 * Reads at once: the hundred paths of a plan take half a millisecond, and several when other work may run in between.
 */
export function locateRules({ rules, files }: IsolationPlan, systemFiles: readonly string[]): LocatedPlan {
  const mounts = visibleMounts(parseMounts(readFileSync('/proc/self/mountinfo', 'utf8')));
  const sources = rules.map(({ path: written, from = written }) => (kindOf(from) === null ? null : realPathOf(from)));
  const existing = rules.flatMap(({ path: written, access, from }, at) => {
    const source = sources[at];
    const real = from === undefined ? source : (realPathOf(written) ?? written);
    return source == null || real == null ? [] : [{ written, access, source, real }];
  });
  const covers = existing.filter(({ access }) => isCover(access));
  const belowCover = (written: string): string | null => {
    const cover = covers.findLast((each) => isAtOrBelow(written, each.written));
    return cover === undefined ? null : path.join(cover.source, path.relative(cover.written, written));
  };
  const wanted = existing.flatMap(({ written, access, source, real }) => {
    if (isCover(access)) {
      const aliases = aliasesOf(source, mounts).map((alias) => ({ access, target: alias, source: alias }));
      return [{ access, target: source, source }, ...aliases];
    }
    return [{ access, target: belowCover(written) ?? real, source }];
  });
  const located = keepExisting(wanted, ({ source }) => source);
  const byTarget = new Map(located.map((rule) => [rule.target, rule]));
  const present = keepExisting(
    systemFiles.map((file) => ({ file })),
    ({ file }) => file,
  );
  return {
    rules: [...byTarget.values()].toSorted((a, b) => (a.target < b.target ? -1 : 1)),
    files: files.flatMap((file) => {
      const target = belowCover(file.path);
      return target === null ? [] : [{ ...file, path: target }];
    }),
    mounts: keepExisting(mounts, ({ point }) => point),
    present: new Set(present.map(({ file }) => file)),
  };
}

/** Those whose path this user can reach, with its kind. */
function keepExisting<T>(
  all: readonly T[],
  pathOf: (each: T) => string,
): readonly (T & { readonly kind: LocatedRule['kind'] })[] {
  return all.flatMap((each) => {
    const kind = kindOf(pathOf(each));
    return kind === null ? [] : [{ ...each, kind }];
  });
}

function kindOf(file: string): LocatedRule['kind'] | null {
  try {
    const status = statSync(file, { throwIfNoEntry: false });
    if (status === undefined) return null;
    return status.isDirectory() ? 'folder' : 'file';
  } catch {
    return null;
  }
}

function realPathOf(file: string): string | null {
  try {
    return realpathSync.native(file);
  } catch {
    return null;
  }
}
