import path from 'node:path';
import { BatonError } from '../../core/baton-error.ts';
import { type IsolationFile, isAtOrBelow, isCover, kernelFolderOf } from './isolation-plan.ts';
import type { LocatedPlan, LocatedRule } from './locate-rules.ts';
import { type Mount, mountAt } from './mount-table.ts';

/**
 * The mounts of an isolated child, as two tables for `mount --all` and what is made between them. Two calls of one
 * program, however many mounts: a call for each mount would take longer than most hooks.
 */
export interface MountScript {
  /** Stages the paths that stay visible, makes every mount read-only, and covers folders. */
  readonly covering: string;
  /** Folders of the stage, to be made after that. Their names need no quoting. */
  readonly folders: readonly string[];
  /** Files to be made in covered folders. */
  readonly files: readonly IsolationFile[];
  /** Puts the visible paths in their places. */
  readonly showing: string;
}

/** Where the visible paths wait while folders are covered. The terminals of the child cover it in the end. */
const stage = '/dev/pts';

/** The devices that programs need. No other can be opened: root could read the disk through one. */
const devices = ['null', 'zero', 'full', 'random', 'urandom', 'tty'].map((name) => `/dev/${name}`);

const ptmx = '/dev/ptmx';

/**
 * The files of a new /proc that root may write without any capability, such as the program that the kernel runs at a
 * crash. Read-only for root alone: the kernel then refuses a new /proc to a sandbox inside.
 */
const controlFiles = ['sys', 'sysrq-trigger', 'irq', 'bus', 'fs', 'acpi', 'scsi'].map((name) => `/proc/${name}`);

export const systemFiles: readonly string[] = [stage, ptmx, ...devices, ...controlFiles];

/** `userId` is that of the child. */
export function mountScript(plan: LocatedPlan, userId: number): MountScript {
  const rules = plan.rules.filter((rule) => !isHiddenAlready(rule, plan.rules));
  for (const rule of rules) refuseImpossible(rule);
  if (!plan.present.has(stage)) throw notPossible(stage, 'the folder does not exist');
  const covers = rules.filter((rule) => isCover(rule.access) && rule.kind === 'folder');
  const outer = covers.filter((rule) => isOuter(rule, rules));
  // A private folder inside of a shown one: it can get its files only where it waits to be shown.
  const inner = covers.filter((rule) => rule.access === 'private' && !outer.includes(rule));
  const shown = rules.filter((rule) => !isCover(rule.access) && isMountNeeded(rule, rules));
  const layers = layersOf(shown, covers, plan.mounts);
  const single = [...shown, ...inner].filter((rule) => !layers.some((layer) => layer.rules.includes(rule)));
  const staged = new Map(single.map((rule, at) => [rule, `${stage}/${at}`]));
  const stageLine = (rule: LocatedRule): string => {
    const folder = rule.kind === 'folder' ? rule.source : path.dirname(rule.source);
    return line(folder, staged.get(rule) ?? '', 'none', 'rbind,X-mount.mkdir');
  };
  const showLine = (rule: LocatedRule): string | null => {
    const layer = layers.find((each) => each.rules.includes(rule));
    if (layer !== undefined) {
      const inLayer = path.join(layer.at, path.relative(layer.base, rule.source));
      return line(inLayer, rule.target, 'none', rule.kind === 'file' ? 'bind' : 'bind,X-mount.mkdir');
    }
    const from = staged.get(rule);
    if (from === undefined) return null;
    if (rule.kind === 'file') return line(`${from}/${path.basename(rule.source)}`, rule.target, 'none', 'bind');
    return line(from, rule.target, 'none', 'rbind,X-mount.mkdir');
  };
  const isWritable = ({ access }: LocatedRule): boolean => access === 'write';
  /** Where a path in a covered folder is before anything is shown; null where no such folder has it. */
  const whereToMake = (target: string): string | null => {
    const cover = [...outer, ...inner].findLast((each) => isAtOrBelow(target, each.target));
    if (cover === undefined) return null;
    return path.join(staged.get(cover) ?? cover.target, path.relative(cover.target, target));
  };
  const targets = shown.filter(({ kind }) => kind === 'file').map(({ target }) => ({ path: target, text: '' }));
  const files = [...plan.files, ...targets].flatMap((file) => {
    const made = whereToMake(file.path);
    return made === null ? [] : [{ ...file, path: made }];
  });
  const empty = [...outer, ...inner.map((rule) => ({ ...rule, target: staged.get(rule) ?? '' }))];
  // The folder of a file that is made has to exist: where nothing covers or shows it, it is a private folder of its own.
  const parents = new Set(
    files.map((file) => path.dirname(file.path)).filter((each) => !empty.some(({ target }) => target === each)),
  );
  const ofFiles = [...parents].map(
    (each) => ({ access: 'private', kind: 'folder', target: each, source: each }) as const,
  );
  const emptied: readonly LocatedRule[] = [...empty, ...ofFiles];
  const present = (names: readonly string[]): readonly string[] => names.filter((each) => plan.present.has(each));
  return {
    covering: table([
      line('baton-stage', stage, 'tmpfs', 'mode=700,nosuid,nodev'),
      // Before the mounts become read-only, because a path that is bound from a read-only mount is read-only.
      ...shown.filter(isWritable).map(stageLine),
      ...present(devices).map((each) => line(each, each, 'none', 'bind')),
      ...plan.mounts.flatMap((mount) => (isReplaced(mount) ? [] : [readOnly(mount)])),
      ...single.filter((rule) => shown.includes(rule) && !isWritable(rule)).map(stageLine),
      ...layers.map(({ base, lower }) => line(base, lower, 'none', 'bind,X-mount.mkdir')),
      ...(userId === 0
        ? present(controlFiles).map((each) => line(each, each, 'none', `bind,ro,${strict.join(',')}`))
        : []),
      ...emptied.toSorted((a, b) => (a.target < b.target ? -1 : 1)).map(coverLine),
    ]),
    folders: layers.flatMap(({ upper, work }) => [upper, work]),
    files,
    showing: table([
      ...layers.map(({ at, lower, upper, work }) => {
        const options = `lowerdir=${lower},upperdir=${upper},workdir=${work},userxattr,nosuid,nodev,X-mount.mkdir`;
        return line('baton-layer', at, 'overlay', options);
      }),
      ...rules.flatMap((rule) => {
        const shows = showLine(rule);
        if (shows !== null) return [shows];
        return isCover(rule.access) && !outer.includes(rule) ? [coverLine(rule)] : [];
      }),
      line('baton-pts', stage, 'devpts', 'newinstance,ptmxmode=0666,mode=620,nosuid,noexec'),
      ...present([ptmx]).map((each) => line(`${stage}/ptmx`, each, 'none', 'bind')),
    ]),
  };
}

/** A file system whose changes end with the child. Several folders of one covered folder share it: each costs a mount. */
interface Layer {
  readonly base: string;
  readonly rules: readonly LocatedRule[];
  /** Where it is in the stage, with its parts. */
  readonly at: string;
  readonly lower: string;
  readonly upper: string;
  readonly work: string;
}

function layersOf(
  shown: readonly LocatedRule[],
  covers: readonly LocatedRule[],
  mounts: readonly Mount[],
): readonly Layer[] {
  /** The covered folder around it. A layer ends where another mount begins: what lies there has a layer of its own. */
  const baseOf = ({ source, kind }: LocatedRule): string => {
    const around = covers.findLast((cover) => isAtOrBelow(source, cover.source))?.source;
    const isOnOneMount = around !== undefined && mountAt(source, mounts)?.id === mountAt(around, mounts)?.id;
    if (isOnOneMount) return around;
    return kind === 'file' ? path.dirname(source) : source;
  };
  const layered = shown.filter(({ access }) => access === 'layered');
  return [...Map.groupBy(layered, baseOf)].map(([base, rules], nth) => {
    const inStage = (name: string): string => `${stage}/layer-${nth}/${name}`;
    const [at, lower, upper, work] = ['all', 'lower', 'upper', 'work'].map(inStage) as [string, string, string, string];
    return { base, rules, at, lower, upper, work };
  });
}

function rulesAbove(rule: LocatedRule, rules: readonly LocatedRule[]): readonly LocatedRule[] {
  return rules.filter((other) => other !== rule && isAtOrBelow(rule.target, other.target));
}

/** A covered folder has nothing that could be hidden in it. */
function isHiddenAlready(rule: LocatedRule, rules: readonly LocatedRule[]): boolean {
  const above = rulesAbove(rule, rules).at(-1);
  return rule.access === 'hidden' && above !== undefined && isCover(above.access);
}

/** Nothing above it is shown, so it can be covered before anything is shown. */
function isOuter(rule: LocatedRule, rules: readonly LocatedRule[]): boolean {
  return rulesAbove(rule, rules).every(({ access }) => isCover(access));
}

/** Everything may be read, except below a rule that says otherwise. */
function isMountNeeded(rule: LocatedRule, rules: readonly LocatedRule[]): boolean {
  return rule.access !== 'read' || rulesAbove(rule, rules).some(({ access }) => access !== 'read');
}

/** The child gets new ones of these. */
function isReplaced({ point }: Mount): boolean {
  return ['/proc', stage].some((each) => isAtOrBelow(point, each));
}

const strict = ['nosuid', 'nodev', 'noexec'];

/** Keeps the strict flags of the mount: the kernel refuses to drop one. */
function readOnly({ point, options }: Mount): string {
  const kept = strict.filter((each) => options.includes(each));
  return line('none', point, 'none', ['remount', 'bind', 'ro', ...new Set(['nodev', ...kept])].join(','));
}

/** Folders that every user may write to. */
const temporaryFolders: readonly string[] = ['/tmp', '/var/tmp', '/dev/shm'];

function coverLine({ target, access, kind }: LocatedRule): string {
  if (kind === 'file') return line('/dev/null', target, 'none', 'bind');
  if (access === 'private') return privateLine(target);
  return line('baton-hidden', target, 'tmpfs', 'mode=555,nosuid,nodev,X-mount.mkdir');
}

function privateLine(target: string): string {
  const mode = temporaryFolders.includes(target) ? '1777' : '700';
  return line('baton-private', target, 'tmpfs', `mode=${mode},nosuid,nodev,X-mount.mkdir`);
}

function refuseImpossible({ target, source, kind }: LocatedRule): void {
  if (target === '/') throw notPossible(target, 'there is no rule for the whole file system');
  const special = kernelFolderOf(target);
  if (special !== null) throw notPossible(target, `every child gets its own ${special}`);
  // The folder of a file is staged as a whole, and that of these has another /proc.
  if (kind === 'file' && path.dirname(source) === '/') throw notPossible(target, 'files in / have no rules');
}

function notPossible(target: string, reason: string): BatonError {
  return new BatonError('isolation_failed', `Failed to isolate a program: ${target}: ${reason}.`, {
    details: { path: target, reason },
  });
}

function table(lines: readonly string[]): string {
  return `${lines.join('\n')}\n`;
}

/**
 * One line of a table. `mount --all` silently skips the root and a file system that it takes for mounted already. With
 * `/.` in front, no mount point has the name of a known one.
 */
function line(source: string, target: string, type: string, options: string): string {
  return `${escaped(source)} ${escaped(`/.${target}`)} ${type} ${options} 0 0`;
}

/** Writes all but ordinary characters as octal numbers, as fstab(5) does for spaces. */
function escaped(text: string): string {
  const octal = (each: string): string => `\\${(each.codePointAt(0) ?? 0).toString(8).padStart(3, '0')}`;
  return text.replaceAll(/[^\w./\u{80}-\u{10ffff}-]/gu, octal);
}
