/**
 * What a child may do with a path and everything below it:
 *
 * - `write`: it reads and writes the path itself.
 * - `layered`: it reads the path; what it writes there stays with the child and is gone at its end.
 * - `read`: it reads the path.
 * - `private`: an empty folder in its place, which the child may write to and which is gone at its end.
 * - `hidden`: an empty folder or file in its place.
 */
export type Access = 'write' | 'layered' | 'read' | 'private' | 'hidden';

export interface IsolationRule {
  /** Absolute and normal. */
  readonly path: string;
  readonly access: Access;
  /** Absolute: the folder that the child finds at the path; absent: the path itself. */
  readonly from?: string;
}

/**
 * What a child sees of the machine's files. The rule of the deepest path wins; what no rule names may be read. A value
 * without I/O: `mount-script.ts` turns it into mounts, and another kind of isolation may turn it into something else.
 */
export interface IsolationPlan {
  readonly rules: readonly IsolationRule[];
  /** Files that Baton makes in private folders. Small, and never secret: they appear in a list of arguments. */
  readonly files: readonly IsolationFile[];
  /** Variables that the child gets, because it finds files elsewhere. */
  readonly variables?: Readonly<Record<string, string>>;
}

export interface IsolationFile {
  readonly path: string;
  readonly text: string;
}

/** One rule a path: of several for the same path the last wins. In the order of their paths, parents first. */
export function isolationPlan(
  rules: readonly IsolationRule[],
  files: readonly IsolationFile[] = [],
  variables: IsolationPlan['variables'] = {},
): IsolationPlan {
  const byPath = new Map(rules.map((rule) => [rule.path, rule]));
  return { rules: [...byPath.values()].toSorted((a, b) => (a.path < b.path ? -1 : 1)), files, variables };
}

/** The rule that decides over a path; null when only the default does: it may be read. */
export function ruleFor(rules: readonly IsolationRule[], target: string): IsolationRule | null {
  return rules.findLast((rule) => isAtOrBelow(target, rule.path)) ?? null;
}

/** Whether a child with this plan finds something else than the machine's own file at this path. */
export function isHiddenBy({ rules }: IsolationPlan, target: string): boolean {
  const rule = ruleFor(rules, target);
  return rule !== null && isCover(rule.access);
}

/** Whether an empty folder or file takes the place of the path. */
export function isCover(access: Access): boolean {
  return access === 'private' || access === 'hidden';
}

/** The folder of the kernel that has this path: every child gets its own, so no rule applies there. */
export function kernelFolderOf(target: string): string | null {
  if (isAtOrBelow(target, '/dev/shm')) return null;
  return ['/proc', '/sys', '/dev'].find((each) => isAtOrBelow(target, each)) ?? null;
}

export function isAtOrBelow(target: string, folder: string): boolean {
  return (
    target.startsWith(folder) && (folder === '/' || target.length === folder.length || target[folder.length] === '/')
  );
}
