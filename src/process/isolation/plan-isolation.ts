import path from 'node:path';
import {
  type IsolationPlan,
  type IsolationRule,
  isAtOrBelow,
  isCover,
  isHiddenBy,
  isolationPlan,
  kernelFolderOf,
} from './isolation-plan.ts';
import { homePaths, homeSecrets, systemPaths } from './usual-paths.ts';

/** The folders of this machine and this Baton, the same for every child. */
export interface IsolationGround {
  /** The homes of the user: the one of the environment and the one that the system knows. */
  readonly homes: readonly string[];
  /** Baton's state folder, and the folder around it that has those of the user's other Batons. */
  readonly stateFolders: readonly string[];
  /** The folder of all workspaces. */
  readonly workspaceRoot: string;
  /** Paths that every child may read: the repository, the workflow file, Baton's own programs. */
  readonly reads: readonly string[];
  /** Where programs are found, as the environment has it. */
  readonly searchPath: string | undefined;
  /** The user's git configuration without logins. */
  readonly gitConfiguration: string;
  /** `agent.isolation_read` and `agent.isolation_write`. */
  readonly readSetting: readonly string[];
  readonly writeSetting: readonly string[];
  /** Whether this machine has layers; without them the paths that would have one are only read. */
  readonly hasLayers: boolean;
}

/** What one child works on. */
export interface IsolationPlace {
  readonly workspace: string;
  /** The child reads the workspace and writes nothing in it, whatever the settings say. */
  readonly isReadOnly?: boolean;
  /** Its git directory where that is elsewhere, and folders that its program keeps its login and its threads in. */
  readonly writes: readonly string[];
  /** Such as the objects that its git directory borrows. */
  readonly reads: readonly string[];
  /** The parts of a folder of its program, by all names of the folder; nothing else of it is shown. */
  readonly home?: {
    readonly folders: readonly string[];
    readonly parts: readonly IsolationRule[];
    readonly variables: Readonly<Record<string, string>>;
  };
}

/** The view of a child from what it works on; null: it sees what the user sees. */
export type Isolate = (place: IsolationPlace) => IsolationPlan | null | Promise<IsolationPlan | null>;

/** The view of one child. */
export function planIsolation(ground: IsolationGround, place: IsolationPlace): IsolationPlan {
  const homes = homesIn(ground);
  const shared = sharedRules(ground);
  // Only what is hidden has to be shown: a rule to read would take away what a setting lets the child write.
  const isHidden = (each: string): boolean => isHiddenBy({ rules: shared, files: [] }, path.resolve(each));
  const workspace = rule(place.isReadOnly ? 'read' : 'write')(place.workspace);
  const isKept = ({ path: each, access }: IsolationRule): boolean =>
    !place.isReadOnly || access !== 'write' || !isAtOrBelow(each, workspace.path);
  return isolationPlan(
    [
      ...shared.filter(isKept),
      ...place.reads.filter((each) => isShowable(each, homes) && isHidden(each)).map(rule('read')),
      ...place.writes.map(rule('write')),
      ...homeRules(place, ground, isHidden),
      workspace,
    ],
    homes.map((home) => ({ path: path.join(home, '.gitconfig'), text: ground.gitConfiguration })),
    place.home?.variables,
  );
}

/** Settings win over them. A folder in a private home is hidden already, and may be a link out of it. */
function homeRules(
  { home = { folders: [], parts: [], variables: {} } }: IsolationPlace,
  { hasLayers, readSetting, writeSetting }: IsolationGround,
  isHidden: (each: string) => boolean,
): readonly IsolationRule[] {
  const set = [...readSetting, ...writeSetting].map((each) => path.resolve(each));
  const covers = home.folders.filter((each) => !isHidden(each)).map(rule('private'));
  const parts = home.parts.map((part) =>
    part.access === 'layered' && !hasLayers ? { ...part, access: 'read' as const } : part,
  );
  return [...covers, ...parts].filter((each) => !set.includes(each.path));
}

/** What holds for every child. Later rules win over earlier ones for the same path. */
export function sharedRules(ground: IsolationGround): readonly IsolationRule[] {
  const homes = homesIn(ground);
  const inHomes = (below: string): string[] => homes.map((home) => path.join(home, below));
  const ofHomes = homePaths.flatMap(({ path: below, access }) =>
    inHomes(below).map(rule(access === 'layered' && !ground.hasLayers ? 'read' : access)),
  );
  const secrets = homeSecrets.flatMap((below) => inHomes(below).map(rule('hidden')));
  const kept = [...secrets, ...ground.stateFolders.map(rule('hidden')), rule('hidden')(ground.workspaceRoot)];
  // Programs that the user put on the PATH. Anything else of a home stays hidden.
  const programs = (ground.searchPath ?? '').split(':').filter((folder) => {
    const isInHome = homes.some((home) => folder !== home && isAtOrBelow(folder, home));
    return isInHome && ![...ofHomes, ...kept].some((each) => isAtOrBelow(folder, each.path));
  });
  return isolationPlan([
    ...systemPaths.map(({ path: each, access }) => ({ path: each, access })),
    ...inHomes('.').map(rule('private')),
    ...programs.map((folder) => rule('read')(programFolder(folder, homes))),
    ...ofHomes,
    ...secrets,
    ...ground.reads.filter((each) => isShowable(each, homes)).map(rule('read')),
    ...ground.readSetting.map(rule('read')),
    ...ground.writeSetting.map(rule('write')),
    ...ground.stateFolders.map(rule('hidden')),
    rule('hidden')(ground.workspaceRoot),
  ]).rules;
}

function homesIn({ homes }: IsolationGround): readonly string[] {
  return homes.filter((home) => path.isAbsolute(home) && home !== '/').map((home) => path.normalize(home));
}

function rule(access: IsolationRule['access']): (each: string) => IsolationRule {
  return (each) => ({ path: path.resolve(each), access });
}

const covered = ['/', ...systemPaths.filter(({ access }) => isCover(access)).map((each) => each.path)];

/** A workflow file or a program may be in a home or in /tmp, and a command may name /dev/null. These paths keep their rules. */
function isShowable(each: string, homes: readonly string[]): boolean {
  const resolved = path.resolve(each);
  return ![...covered, ...homes].includes(resolved) && kernelFolderOf(resolved) === null;
}

/**
 * The folder that the programs of a folder need: the one around `bin`, which also has `lib` and the like. But not a home, nor
 * a hidden folder of a home, such as `~/.local`: those have logins.
 */
export function programFolder(folder: string, homes: readonly string[]): string {
  const [around, name] = [path.dirname(folder), path.basename(folder)];
  const isPersonal = homes.some((home) => around === home || (path.dirname(around) === home && isDotted(around)));
  return name === 'bin' && around !== '/' && !isPersonal ? around : folder;
}

function isDotted(file: string): boolean {
  return path.basename(file).startsWith('.');
}
