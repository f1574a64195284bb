import path from 'node:path';
import { BatonError } from '../../core/baton-error.ts';
import type { Settings } from '../../core/settings.ts';
import { parseStoreUrl, type StoreLocation } from '../../store/store-url.ts';
import { loadWorkflow } from '../../workflow/load-workflow.ts';
import { canonicalPath } from '../../workspace/canonical-path.ts';
import { workflowContext } from '../adapters.ts';
import type { Surroundings } from '../surroundings.ts';
import { statePlace } from '../workplace.ts';

/**
 * Why one Baton cannot run two projects; null when it can. What must hold between any two: they do not share an SQLite
 * store, they are not the same project of one store, and no agent of one ever writes into a workspace, a state folder
 * or a store of the other.
 */
export function findClash(left: ProjectPlaces, right: ProjectPlaces): BatonError | null {
  if (left.store === right.store && left.isStoreForOne) {
    return clash('same_store', ['store.url'], left, right, 'use the same SQLite store, which only one project can use');
  }
  if (left.store === right.store && left.project === right.project) {
    return clash('same_project', ['project.name'], left, right, `are the same project "${left.project}" in one store`);
  }
  for (const [root, other] of pairs(left.roots, right.roots)) {
    if (!isWithin(root, other) && !isWithin(other, root)) continue;
    const text =
      root === other ? `have the same workspace root, ${root}` : `have nested workspace roots, ${root} and ${other}`;
    return clash('shared_workspaces', ['workspace.root'], left, right, text);
  }
  return stateIn(left, right) ?? stateIn(right, left);
}

/** Finds a file that is named twice, comparing real paths. */
export function findSameFile(
  files: readonly { readonly workflow: string; readonly real: string }[],
): BatonError | null {
  for (const [index, file] of files.entries()) {
    const first = files.slice(0, index).find(({ real }) => real === file.real);
    if (first === undefined) continue;
    const names = first.workflow === file.workflow ? file.workflow : `${first.workflow} and ${file.workflow}`;
    return new BatonError('projects_clash', `You named the same workflow file twice: ${names}.`, {
      details: { clash: 'same_file', workflows: [first.workflow, file.workflow] },
      nextStep: 'Name each workflow file once.',
    });
  }
  return null;
}

function stateIn(keeper: ProjectPlaces, writer: ProjectPlaces): BatonError | null {
  for (const [kept, root] of pairs(keeper.kept, writer.roots)) {
    if (!isWithin(kept, root)) continue;
    const message = `${kept} of ${keeper.workflow} is inside ${root}, where the agents of ${writer.workflow} write.`;
    return new BatonError('state_inside_workspaces', message, { details: details('state_inside', keeper, writer) });
  }
  return null;
}

function clash(
  kind: string,
  keys: readonly string[],
  left: ProjectPlaces,
  right: ProjectPlaces,
  text: string,
): BatonError {
  return new BatonError('projects_clash', `${left.workflow} and ${right.workflow} ${text}.`, {
    details: { ...details(kind, left, right), keys },
    nextStep: `Give each project its own \`${keys.join('` and its own `')}\`, or run them one at a time.`,
  });
}

function details(kind: string, left: ProjectPlaces, right: ProjectPlaces): Record<string, unknown> {
  return { clash: kind, workflows: [left.workflow, right.workflow] };
}

function pairs(left: readonly string[], right: readonly string[]): (readonly [string, string])[] {
  return left.flatMap((one) => right.map((other) => [one, other] as const));
}

/** Whether a real path is the folder or below it. */
function isWithin(inner: string, folder: string): boolean {
  const relative = path.relative(folder, inner);
  return relative === '' || (relative !== '..' && !relative.startsWith(`..${path.sep}`) && !path.isAbsolute(relative));
}

/** The places of a project, as real paths, that no other project of the same Baton may touch. */
export interface ProjectPlaces {
  /** The workflow file as it was named. */
  readonly workflow: string;
  readonly project: string;
  /** Equal for the same store. */
  readonly store: string;
  /** An SQLite file is for one daemon; PostgreSQL is for many. */
  readonly isStoreForOne: boolean;
  /** The folders that its agents write to. */
  readonly roots: readonly string[];
  /** What agents must not write to: its state folder, and its store if that is a file. */
  readonly kept: readonly string[];
}

/** Throws when the settings name a place that cannot be used. */
export function placesOf(workflow: string, settings: Settings, surroundings: Surroundings): ProjectPlaces {
  const { stateDir, storeUrl } = statePlace(workflow, settings, undefined, surroundings);
  const location = parseStoreUrl(storeUrl);
  const isFile = location.engine === 'sqlite';
  return {
    workflow,
    project: settings.project.name,
    store: storeIdentity(location),
    isStoreForOne: isFile,
    roots: [canonicalPath(settings.workspace.root)],
    kept: [stateDir, ...(isFile ? [location.file] : [])].map(canonicalPath),
  };
}

/** The user and the options of a connection do not make it another database. */
function storeIdentity(location: StoreLocation): string {
  if (location.engine === 'sqlite') return canonicalPath(location.file);
  try {
    const { hostname, port, pathname } = new URL(location.url);
    return `postgres://${hostname.toLowerCase()}:${port || '5432'}${path.posix.normalize(pathname || '/')}`;
  } catch {
    return location.url;
  }
}

/**
 * Throws when these workflow files cannot run together. A file that cannot be read now is skipped; it is checked again
 * when its project starts.
 */
export function refuseClashes(workflows: readonly string[], surroundings: Surroundings): void {
  const same = findSameFile(workflows.map((workflow) => ({ workflow, real: realFile(workflow) })));
  if (same !== null) throw same;
  const all = workflows.flatMap((workflow) => placesIfReadable(workflow, surroundings));
  for (const [index, places] of all.entries()) {
    for (const other of all.slice(0, index)) {
      const clash = findClash(other, places);
      if (clash !== null) throw clash;
    }
  }
}

function realFile(workflow: string): string {
  try {
    return canonicalPath(workflow);
  } catch {
    return path.normalize(workflow);
  }
}

function placesIfReadable(workflow: string, surroundings: Surroundings): ProjectPlaces[] {
  try {
    const { settings } = loadWorkflow(workflow, workflowContext(surroundings, undefined));
    return [placesOf(workflow, settings, surroundings)];
  } catch (thrown) {
    if (thrown instanceof BatonError) return [];
    throw thrown;
  }
}
