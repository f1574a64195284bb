import path from 'node:path';
import type { Settings } from '../../core/settings.ts';
import { parseStoreUrl, type StoreLocation } from '../../store/store-url.ts';
import { canonicalPath } from '../../workspace/canonical-path.ts';
import type { Surroundings } from '../surroundings.ts';
import { statePlace } from '../workplace.ts';

/** What a project stands on, by real paths: what no other project of the same Baton may touch. */
export interface ProjectGround {
  /** The workflow file as it was named. */
  readonly workflow: string;
  readonly project: string;
  /** Equal for the same store. */
  readonly store: string;
  /** An SQLite file is for one daemon; PostgreSQL is for many. */
  readonly isStoreForOne: boolean;
  /** Where its agents write. */
  readonly roots: readonly string[];
  /** What agents must not write: its state folder, and its store where that is a file. */
  readonly kept: readonly string[];
}

/** Throws where the settings name no place that can be used. */
export function groundOf(workflow: string, settings: Settings, surroundings: Surroundings): ProjectGround {
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

/** Who connects, and with what options, makes no other database of it. */
function storeIdentity(location: StoreLocation): string {
  if (location.engine === 'sqlite') return canonicalPath(location.file);
  try {
    const { hostname, port, pathname } = new URL(location.url);
    return `postgres://${hostname.toLowerCase()}:${port || '5432'}${path.posix.normalize(pathname || '/')}`;
  } catch {
    return location.url;
  }
}
