import { existsSync, mkdirSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { AgentBackend, HomeParts } from '../agent/backend.ts';
import { BatonError } from '../core/baton-error.ts';
import type { Logger } from '../core/logger.ts';
import type { AccountSettings, Settings } from '../core/settings.ts';
import { childEnvironment, secretsAmong, usualVariables } from '../process/child-environment.ts';
import { absoluteElements } from '../process/find-program.ts';
import { findHidden, type HiddenPlace } from '../process/isolation/find-hidden.ts';
import { type IsolationRule, isAtOrBelow, kernelFolderOf } from '../process/isolation/isolation-plan.ts';
import {
  type Isolate as IsolateChild,
  type IsolationGround,
  type IsolationPlace,
  planIsolation,
  programFolder,
} from '../process/isolation/plan-isolation.ts';
import { type IsolationReport, probeIsolation } from '../process/isolation/probe-isolation.ts';
import { sharedRead } from '../process/shared-read.ts';
import { parseStoreUrl } from '../store/store-url.ts';
import { createGit, type GitParts } from '../workspace/git/git.ts';
import { gitPlaces } from '../workspace/git/git-places.ts';
import { readGitConfiguration } from './git-configuration.ts';
import { userFolder } from './state-folder.ts';
import type { Surroundings } from './surroundings.ts';

/** Starting git takes longer than all else that a run does before its agent starts, so runs share what it says. */
const gitConfigurationMs = 10_000;

/** As `Isolate` of every child, for one that is an agent as well. */
export type Isolate = (...of: [...Parameters<IsolateChild>, command?: CommandPaths]) => ReturnType<IsolateChild>;

/** What the command of an agent names. Hidden folders win over it: Baton refuses a command that needs one. */
interface CommandPaths {
  /** The folder of the account; null: the backend's own default. */
  readonly ownHome: string | null;
  /** Where the agent keeps its login and its threads. */
  readonly logins: readonly string[];
  /** What it needs of the first of these; null: all of it. */
  readonly parts: ((workspace: string) => HomeParts) | null;
  /** Paths, and names that are searched in the folders. */
  readonly programs: readonly string[];
  readonly folders: readonly string[];
  /** The setting that names the programs, and the one that names the logins. */
  readonly setting: string;
  readonly loginSetting: string;
}

export interface IsolationParts {
  readonly report: IsolationReport;
  readonly workflowPath: string;
  readonly stateDir: string;
  /** The user's git configuration without logins, as it was last read. */
  readonly gitConfiguration: () => string;
}

export interface OpenedIsolation {
  readonly isolationFor: (settings: Settings) => Isolate;
  /**
   * Reads the user's git configuration again, which may have changed since the start, unless these settings hide nothing
   * or it was just read. Never rejects.
   */
  readonly readGitAgain: (settings: Settings) => Promise<void>;
}

/** For a Baton that starts nothing. */
export const withoutIsolation: OpenedIsolation = {
  isolationFor: () => () => null,
  readGitAgain: async () => {},
};

/** Isolation for callers that exist before it is opened. */
export function whenOpened(opening: Promise<OpenedIsolation>): OpenedIsolation {
  return {
    isolationFor:
      (settings) =>
      async (...of) =>
        (await opening).isolationFor(settings)(...of),
    readGitAgain: async (settings) => (await opening).readGitAgain(settings),
  };
}

interface OpeningParts extends Omit<IsolationParts, 'report' | 'gitConfiguration'> {
  readonly process: GitParts;
  /** The settings at the start. */
  readonly settings: Settings;
  readonly logger: Logger;
}

/**
 * Finds out what this machine can do. Throws where the settings require more; warns once where they ask for more.
 */
export async function openIsolation(parts: OpeningParts, surroundings: Surroundings): Promise<OpenedIsolation> {
  const { process, settings, logger } = parts;
  const { clock, chance, env } = surroundings;
  const probeEnv = childEnvironment({ from: env, allow: usualVariables, deny: [] });
  const report = await probeIsolation(
    { env: probeEnv, clock, chance, daemonId: process.daemonId },
    await process.containment,
  );
  const git = createGit(process);
  let configuration = '';
  let [readAt, stamp] = [Number.NEGATIVE_INFINITY, ''];
  const read = sharedRead(async () => {
    const [began, found] = [clock.monotonic(), gitConfigurationStamp(env)];
    configuration = await readGitConfiguration(git);
    [readAt, stamp] = [began, found];
  });
  const readGitAgain = async ({ agent }: Settings): Promise<void> => {
    const isUsed = report.isAvailable && agent.isolation !== 'none';
    const isOld = clock.monotonic() - readAt > gitConfigurationMs || gitConfigurationStamp(env) !== stamp;
    if (isUsed && isOld) await read();
  };
  await readGitAgain(settings);
  const known = { ...parts, report, gitConfiguration: () => configuration };
  isolationFor(settings, known, surroundings);
  if (settings.agent.isolation === 'namespaces' && report.reason !== null)
    logger.warn('isolation_limited', { is_available: report.isAvailable, reason: report.reason });
  return { isolationFor: (wanted) => isolationFor(wanted, known, surroundings), readGitAgain };
}

/** Changes with the user's own files; those that they include are read again after a while. */
function gitConfigurationStamp({ HOME = '', XDG_CONFIG_HOME }: Surroundings['env']): string {
  const files = [
    path.join(HOME, '.gitconfig'),
    path.join(XDG_CONFIG_HOME || path.join(HOME, '.config'), 'git', 'config'),
  ];
  const stampOf = (file: string): string => {
    try {
      const { ino, size, mtimeNs, ctimeNs } = statSync(file, { bigint: true });
      return [ino, size, mtimeNs, ctimeNs].join(' ');
    } catch {
      return '';
    }
  };
  return files.map(stampOf).join('\n');
}

/**
 * How agents and hooks with these settings are isolated. Throws `isolation_unavailable` where the settings require more
 * than the machine can do.
 */
function isolationFor(settings: Settings, parts: IsolationParts, surroundings: Surroundings): Isolate {
  const { agent, workspace } = settings;
  if (agent.isolation === 'none') return () => null;
  const { report, workflowPath, stateDir, gitConfiguration } = parts;
  if (!report.isAvailable) {
    if (agent.isolationRequired) throw unavailable(report);
    return () => null;
  }
  const stateFolders = [stateDir, userFolder(surroundings), ...hiddenFiles(settings, surroundings)];
  refuseStateFolder([...agent.isolationRead, ...agent.isolationWrite], stateFolders);
  const { env } = surroundings;
  const known = {
    homes: homesOf(surroundings),
    stateFolders,
    workspaceRoot: workspace.root,
    reads: [
      path.dirname(workflowPath),
      workflowPath,
      ...(workspace.repo?.isLocal === true ? [workspace.repo.location] : []),
      ...ownPrograms(surroundings),
    ],
    searchPath: env.PATH,
    readSetting: agent.isolationRead,
    writeSetting: agent.isolationWrite,
    hasLayers: report.hasLayers,
  };
  const { caches } = gitPlaces(stateDir);
  return (place, command) => {
    const ground = { ...known, gitConfiguration: gitConfiguration() };
    const { reads, writes, home } = command === undefined ? nothing : placesOf(command, place.workspace, ground);
    return planIsolation(ground, {
      ...place,
      reads: [caches, ...place.reads, ...reads],
      writes: [...place.writes, ...writes],
      ...(home === undefined ? {} : { home }),
    });
  };
}

const nothing = { reads: [], writes: [], home: undefined };

function homesOf({
  env,
  homeDir,
  accountHome,
}: Pick<Surroundings, 'env' | 'homeDir' | 'accountHome'>): readonly string[] {
  return [...new Set([env.HOME ?? homeDir, homeDir, ...(accountHome === undefined ? [] : [accountHome])])];
}

/** Adds what the program of a backend needs for itself: its login and its threads, and the program. */
export function isolationOfAgent(isolate: Isolate, ...agent: Parameters<typeof commandPaths>): Isolate {
  const command = commandPaths(...agent);
  return async (place) => {
    const plan = await isolate(place, command);
    if (plan === null) return plan;
    // The program would make its folders itself; isolated, it would make some that are gone at its end.
    const own = plan.rules.flatMap(({ from }) => from ?? []);
    for (const folder of [...(command.ownHome === null ? [] : [command.ownHome]), ...own])
      mkdirSync(folder, { recursive: true, mode: 0o700 });
    return plan;
  };
}

export function commandPaths(
  backend: AgentBackend,
  settings: Settings,
  { home }: AccountSettings,
  { env, homeDir }: Surroundings,
): CommandPaths {
  const needs = backend.needs(settings);
  const { homeVariable } = backend;
  const ofEnvironment = homeVariable === null ? null : (env[homeVariable] ?? null);
  const ownHome = home ?? ofEnvironment;
  const inHome = (each: string): string => (each.startsWith('~/') ? path.join(homeDir, each.slice(2)) : each);
  const setting = `${backend.settings?.section ?? 'agent'}.command`;
  const namesHome = home !== null ? 'agent.accounts' : homeVariable;
  return {
    ownHome,
    logins: ownHome === null ? (needs?.paths ?? []).map(inHome) : [ownHome],
    parts: needs?.parts ?? null,
    programs: (needs?.programs ?? []).map(inHome),
    folders: [...absoluteElements(env.PATH).split(':'), ...['~/bin', '~/.local/bin'].map(inHome)],
    setting,
    loginSetting: ownHome === null ? setting : (namesHome ?? setting),
  };
}

/**
 * Where the programs of a command are, with the files around them, which they often need. Installers put a link on the
 * PATH to a program that is elsewhere, so both its ends count. A hidden place is never among them: a path in one is
 * refused, and so is a name that is found in hidden places only.
 */
function placesOf(
  { logins, parts, programs, folders, setting, loginSetting }: CommandPaths,
  workspace: string,
  ground: IsolationGround,
): Pick<IsolationPlace, 'reads' | 'writes' | 'home'> {
  const hiddenAt = findHidden(ground);
  const refuseHidden = (each: string, namedBy: string): void => {
    const hidden = hiddenAt(each);
    if (hidden !== null) throw commandHidden(each, hidden, namedBy);
  };
  for (const each of logins) refuseHidden(each, loginSetting);
  const reads = programs.flatMap((program) => {
    if (program.startsWith('/')) {
      refuseHidden(program, setting);
      return isFile(program) ? withFolders(program) : [program];
    }
    const files = folders.map((folder) => path.join(folder, program)).filter(isFile);
    // Some tools keep the folder that they put on the PATH below /run.
    const shown = files.filter((file) => (hiddenAt(file)?.kind ?? 'system') === 'system');
    if (shown.length === 0 && files[0] !== undefined) refuseHidden(files[0], setting);
    return shown.flatMap(withFolders);
  });
  const [folder, ...further] = logins;
  if (parts === null || folder === undefined) return { reads, writes: logins };
  const names = [folder, ...(existsSync(folder) ? [realpathSync(folder)] : [])];
  const needed = parts(workspace);
  const variables = Object.fromEntries(
    Object.entries(needed.variables ?? {}).map(([name, file]) => [name, path.join(path.resolve(folder), file)]),
  );
  return { reads, writes: [], home: { folders: names, parts: rulesOf(needed, folder, further), variables } };

  function withFolders(file: string): readonly string[] {
    const ends = [file, realpathSync(file)];
    const around = ends.map((each) => programFolder(path.dirname(each), ground.homes));
    return [...ends, ...around.filter((each) => (hiddenAt(each)?.kind ?? 'system') === 'system')];
  }
}

/** The rules for the parts of an agent's own folder, and for the further files that it keeps outside. */
function rulesOf(
  { logins, conversations, settings }: HomeParts,
  folder: string,
  further: readonly string[],
): readonly IsolationRule[] {
  const inFolder = (name: string): string => path.join(path.resolve(folder), name);
  return [
    ...[...settings.map(inFolder), ...further].map((each) => ({ path: each, access: 'layered' }) as const),
    ...logins.map((name) => ({ path: inFolder(name), access: 'write' }) as const),
    ...Object.entries(conversations).map(
      ([name, from]) => ({ path: inFolder(name), access: 'write', from: inFolder(from) }) as const,
    ),
  ];
}

/** False too where a folder of the path may not be read: nothing in it can be started. */
function isFile(file: string): boolean {
  try {
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

/** Baton itself and its Node: agents that come with Baton run from there. */
function ownPrograms({ nodePath, agentProgram }: Surroundings): readonly string[] {
  const folders = (file: string): string[] =>
    path.dirname(file) === file ? [] : [file, ...folders(path.dirname(file))];
  const program = path.dirname(fileURLToPath(agentProgram('')));
  const root = folders(program).find((folder) => existsSync(path.join(folder, 'package.json')));
  return [path.dirname(path.dirname(nodePath)), root ?? program];
}

/** The files of a store that is elsewhere, and those that hold secrets of Baton: `NAME_FILE`, unless agents get that variable too. */
function hiddenFiles({ agent, store, secretEnvironment }: Settings, { env }: Surroundings): readonly string[] {
  const given = childEnvironment({ from: env, allow: agent.env, deny: [] });
  const secrets = Object.entries(env).flatMap(([variable, file]) => {
    const name = /^(.+)_FILE$/.exec(variable)?.[1];
    if (name === undefined || !file || Object.hasOwn(given, variable)) return [];
    return secretEnvironment.includes(name) || secretsAmong({ [name]: file }).length > 0 ? [path.resolve(file)] : [];
  });
  const location = store.url === null ? null : parseStoreUrl(store.url.reveal());
  const database = location?.engine === 'sqlite' ? ['', '-wal', '-shm'].map((end) => location.file + end) : [];
  const credentials = env.CREDENTIALS_DIRECTORY ? [path.resolve(env.CREDENTIALS_DIRECTORY)] : [];
  // An open file or a pipe is the daemon's own.
  return [...secrets, ...credentials, ...database].filter((each) => kernelFolderOf(each) === null);
}

/** An agent that writes there is a person to Baton, so no setting shows a part of it. */
function refuseStateFolder(paths: readonly string[], stateFolders: readonly string[]): void {
  const refused = paths.find((each) => stateFolders.some((folder) => isAtOrBelow(each, folder)));
  if (refused === undefined) return;
  throw new BatonError(
    'isolation_failed',
    `agent.isolation_read or agent.isolation_write names ${refused}, which is in Baton's state folder, its store or a file with its secrets.`,
    {
      details: { path: refused, reason: 'state_folder' },
      nextStep: 'Remove that path from the setting; agents never see it.',
    },
  );
}

function commandHidden(named: string, { path: hidden, kind }: HiddenPlace, namedBy: string): BatonError {
  const isState = kind === 'state';
  const where = isState
    ? "Baton's state folder, store or secrets, which agents never see"
    : 'a place that isolation hides';
  return new BatonError('isolation_hides_path', `${namedBy} names ${named}, which is in ${where} (${hidden}).`, {
    details: { path: named, hidden, named_by: namedBy, setting: isState ? namedBy : 'agent.isolation_read' },
    ...(isState ? { nextStep: `Move the file to another folder and change ${namedBy}.` } : {}),
  });
}

function unavailable({ reason }: IsolationReport): BatonError {
  return new BatonError(
    'isolation_unavailable',
    `This machine cannot isolate agents, and agent.isolation_required is set: ${reason}`,
    {
      details: { reason },
    },
  );
}
