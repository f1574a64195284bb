import type { Logger } from '../../core/logger.ts';
import type { Workflow, WorkflowSource } from '../../core/workflow.ts';
import { guardedSource } from '../guarded-source.ts';
import type { Surroundings } from '../surroundings.ts';
import { findClash, groundOf, type ProjectGround } from './find-clash.ts';

/**
 * The projects that this Baton runs now, with the places of each. A project that starts later, or is edited while it
 * runs, is refused when it clashes with another one. A project keeps every workspace root it has had since its start,
 * because runs that began under an old root continue there.
 */
export interface Neighbours {
  /** Registers a project until it is disposed. */
  join(workflow: string): Neighbour;
  /** The largest `agent.max_concurrent_agents` of these projects; 0 when there are none. */
  largestLimit(): number;
}

export interface Neighbour extends Disposable {
  /** Registers the places named by each reading of this source; throws when the first clashes with another project. */
  guard(source: WorkflowSource, logger: Logger): WorkflowSource;
}

export function createNeighbours(surroundings: Surroundings): Neighbours {
  const here = new Map<object, { readonly ground: ProjectGround; readonly limit: number }>();
  return {
    join: (workflow) => {
      const key = {};
      const accept = ({ settings }: Workflow): void => {
        const ground = withRoots(groundOf(workflow, settings, surroundings), here.get(key)?.ground.roots ?? []);
        for (const [other, { ground: taken }] of here) {
          const clash = other === key ? null : findClash(ground, taken);
          if (clash !== null) throw clash;
        }
        here.set(key, { ground, limit: settings.agent.maxConcurrentAgents });
      };
      return {
        guard: (source, logger) => guardedSource(source, accept, logger),
        [Symbol.dispose]: () => void here.delete(key),
      };
    },
    largestLimit: () => Math.max(0, ...[...here.values()].map(({ limit }) => limit)),
  };
}

function withRoots(ground: ProjectGround, before: readonly string[]): ProjectGround {
  return { ...ground, roots: [...new Set([...before, ...ground.roots])] };
}
