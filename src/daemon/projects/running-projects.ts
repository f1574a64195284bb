import type { Logger } from '../../core/logger.ts';
import type { Workflow, WorkflowSource } from '../../core/workflow.ts';
import { guardedSource } from '../guarded-source.ts';
import type { Surroundings } from '../surroundings.ts';
import { findClash, type ProjectPlaces, placesOf } from './find-clash.ts';

/**
 * The projects that this Baton runs now, with the places of each. A project that starts later, or is edited while it
 * runs, is refused when it clashes with another one. A project keeps every workspace root it has had since its start,
 * because runs that began under an old root continue there.
 */
export interface RunningProjects {
  /** Registers a project until it is disposed. */
  join(workflow: string): JoinedProject;
  /** The largest `agent.max_concurrent_agents` of these projects; 0 when there are none. */
  largestLimit(): number;
}

export interface JoinedProject extends Disposable {
  /** Registers the places in each reading of this source; throws when the first reading clashes with another project. */
  guard(source: WorkflowSource, logger: Logger): WorkflowSource;
}

export function createRunningProjects(surroundings: Surroundings): RunningProjects {
  const running = new Map<object, { readonly places: ProjectPlaces; readonly limit: number }>();
  return {
    join: (workflow) => {
      const key = {};
      const accept = ({ settings }: Workflow): void => {
        const places = withRoots(placesOf(workflow, settings, surroundings), running.get(key)?.places.roots ?? []);
        for (const [other, { places: taken }] of running) {
          const clash = other === key ? null : findClash(places, taken);
          if (clash !== null) throw clash;
        }
        running.set(key, { places, limit: settings.agent.maxConcurrentAgents });
      };
      return {
        guard: (source, logger) => guardedSource(source, accept, logger),
        [Symbol.dispose]: () => void running.delete(key),
      };
    },
    largestLimit: () => Math.max(0, ...[...running.values()].map(({ limit }) => limit)),
  };
}

function withRoots(places: ProjectPlaces, before: readonly string[]): ProjectPlaces {
  return { ...places, roots: [...new Set([...before, ...places.roots])] };
}
