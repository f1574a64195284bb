import { existsSync, mkdirSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { AgentBackend } from '../agent/backend.ts';
import { BatonError } from '../core/baton-error.ts';
import type { Logger } from '../core/logger.ts';
import type { AccountSettings, Settings } from '../core/settings.ts';
import { childEnvironment, usualVariables } from '../process/child-environment.ts';
import { absoluteElements } from '../process/find-program.ts';
import { type IsolationPlan, isAtOrBelow } from '../process/isolation/isolation-plan.ts';
import { type IsolationPlace, planIsolation, programFolder } from '../process/isolation/plan-isolation.ts';
import { type IsolationReport, probeIsolation } from '../process/isolation/probe-isolation.ts';
import { createGit, type GitParts } from '../workspace/git/git.ts';
import { gitPlaces } from '../workspace/git/git-places.ts';
import { readGitConfiguration } from './git-configuration.ts';
import { userFolder } from './state-folder.ts';
import type { Surroundings } from './surroundings.ts';

/** Makes the view of one child from what it works on; null: it sees what the user sees. */
export type Isolate = (place: IsolationPlace) => IsolationPlan | null;

export interface IsolationParts {
  readonly report: IsolationReport;
  readonly workflowPath: string;
  readonly stateDir: string;
  /** The user's git configuration without logins. */
  readonly gitConfiguration: string;
}

export interface OpenedIsolation {
  readonly report: IsolationReport;
  readonly isolationFor: (settings: Settings) => Isolate;
}

/** For a Baton that starts nothing. */
export const withoutIsolation: OpenedIsolation = {
  report: { isAvailable: false, hasLayers: false, reason: null },
  isolationFor: () => () => null,
};

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
    process.containment,
  );
  const gitConfiguration = report.isAvailable ? await readGitConfiguration(createGit(process)) : '';
  const known = { ...parts, report, gitConfiguration };
  isolationFor(settings, known, surroundings);
  if (settings.agent.isolation === 'namespaces' && report.reason !== null)
    logger.warn('isolation_limited', { is_available: report.isAvailable, reason: report.reason });
  return { report, isolationFor: (wanted) => isolationFor(wanted, known, surroundings) };
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
  const stateFolders = [stateDir, userFolder(surroundings)];
  refuseStateFolder([...agent.isolationRead, ...agent.isolationWrite], stateFolders);
  const { env } = surroundings;
  const ground = {
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
    gitConfiguration,
    readSetting: agent.isolationRead,
    writeSetting: agent.isolationWrite,
    hasLayers: report.hasLayers,
  };
  const { caches } = gitPlaces(stateDir);
  return (place) => planIsolation(ground, { ...place, reads: [caches, ...place.reads] });
}

function homesOf({
  env,
  homeDir,
  accountHome,
}: Pick<Surroundings, 'env' | 'homeDir' | 'accountHome'>): readonly string[] {
  return [...new Set([env.HOME ?? homeDir, homeDir, ...(accountHome === undefined ? [] : [accountHome])])];
}

/** Adds what the program of a backend needs for itself: its login and its threads, and the program. */
export function isolationOfAgent(
  isolate: Isolate,
  backend: AgentBackend,
  settings: Settings,
  { home }: AccountSettings,
  { env, homeDir, accountHome }: Surroundings,
): Isolate {
  const needs = backend.needs(settings);
  const own = home ?? (backend.homeVariable === null ? undefined : env[backend.homeVariable]);
  const inHome = (each: string): string => (each.startsWith('~/') ? path.join(homeDir, each.slice(2)) : each);
  const writes = own === undefined ? (needs?.paths ?? []).map(inHome) : [own];
  const folders = [...absoluteElements(env.PATH).split(':'), ...['~/bin', '~/.local/bin'].map(inHome)];
  const reads = (needs?.programs ?? []).flatMap((each) =>
    placesOf(inHome(each), folders, homesOf({ env, homeDir, accountHome })),
  );
  return (place) => {
    const plan = isolate({ ...place, writes: [...place.writes, ...writes], reads: [...place.reads, ...reads] });
    // The program would make the folder of its account itself; isolated, it would make one that is gone at its end.
    if (plan !== null && own !== undefined) mkdirSync(own, { recursive: true, mode: 0o700 });
    return plan;
  };
}

/**
 * Where a program is, with the files around it, which it often needs. Installers put a link on the PATH to a program that
 * is elsewhere, so both its ends count.
 */
function placesOf(program: string, folders: readonly string[], homes: readonly string[]): readonly string[] {
  const files = program.startsWith('/') ? [program] : folders.map((folder) => path.join(folder, program));
  return files.flatMap((file) => {
    if (!statSync(file, { throwIfNoEntry: false })?.isFile()) return program.startsWith('/') ? [file] : [];
    return [file, realpathSync(file)].flatMap((each) => [each, programFolder(path.dirname(each), homes)]);
  });
}

/** Baton itself and its Node: agents that come with Baton run from there. */
function ownPrograms({ nodePath, agentProgram }: Surroundings): readonly string[] {
  const folders = (file: string): string[] =>
    path.dirname(file) === file ? [] : [file, ...folders(path.dirname(file))];
  const program = path.dirname(fileURLToPath(agentProgram('')));
  const root = folders(program).find((folder) => existsSync(path.join(folder, 'package.json')));
  return [path.dirname(path.dirname(nodePath)), root ?? program];
}

/** An agent that writes there is a person to Baton, so no setting shows a part of it. */
function refuseStateFolder(paths: readonly string[], stateFolders: readonly string[]): void {
  const refused = paths.find((each) => stateFolders.some((folder) => isAtOrBelow(each, folder)));
  if (refused === undefined) return;
  throw new BatonError(
    'isolation_failed',
    `agent.isolation_read or agent.isolation_write names ${refused}, which is in Baton's state folder.`,
    {
      details: { path: refused, reason: 'state_folder' },
      nextStep: 'Remove that path from the setting; agents never see the state folder.',
    },
  );
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
