import path from 'node:path';
import { isAtOrBelow } from './isolation-plan.ts';

/** One mount, as /proc/self/mountinfo shows it. */
export interface Mount {
  readonly id: string;
  readonly parent: string;
  /** The file system, as `major:minor`. */
  readonly device: string;
  /** The folder of the file system that is mounted. */
  readonly root: string;
  readonly point: string;
  readonly options: readonly string[];
}

/** proc(5): `id parent major:minor root point options … - type source options`. */
export function parseMounts(mountinfo: string): readonly Mount[] {
  return mountinfo.split('\n').flatMap((line) => {
    const [id, parent, device, root, point, options] = line.split(' ');
    if (id === undefined || parent === undefined || device === undefined) return [];
    if (root === undefined || point === undefined || options === undefined) return [];
    return [{ id, parent, device, root: decode(root), point: decode(point), options: options.split(',') }];
  });
}

/** The kernel writes space, tab, newline and backslash as octal numbers. */
function decode(text: string): string {
  return text.replaceAll(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}

/** The mounts that a path leads to: one that another mount covers cannot be reached by its name. */
export function visibleMounts(mounts: readonly Mount[]): readonly Mount[] {
  return mounts.filter((mount) => mountAt(mount.point, mounts)?.id === mount.id);
}

/** The mount that a path lies on. Walks down from the root as the kernel does. */
export function mountAt(target: string, mounts: readonly Mount[]): Mount | null {
  let current = mounts.find(({ point, parent }) => point === '/' && !mounts.some(({ id }) => id === parent)) ?? null;
  const steps =
    target === '/'
      ? ['/']
      : [
          '/',
          ...target
            .split('/')
            .slice(1)
            .map((_, at, all) => `/${all.slice(0, at + 1).join('/')}`),
        ];
  for (const step of steps) {
    for (;;) {
      const covering = mounts.find(
        ({ id, parent, point }) => point === step && parent === current?.id && id !== current.id,
      );
      if (covering === undefined) break;
      current = covering;
    }
  }
  return current;
}

/**
 * The other paths by which a folder can be reached, because its file system, or a part of it, is mounted more than once:
 * hiding one path would leave these.
 */
export function aliasesOf(target: string, mounts: readonly Mount[]): readonly string[] {
  const own = mountAt(target, mounts);
  if (own === null) return [];
  const inside = path.join(own.root, path.relative(own.point, target));
  return mounts.flatMap(({ id, device, root, point }) => {
    if (id === own.id || device !== own.device || !isAtOrBelow(inside, root)) return [];
    const alias = path.join(point, path.relative(root, inside));
    return alias === target ? [] : [alias];
  });
}
