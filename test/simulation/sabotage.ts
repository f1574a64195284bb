import type { OrchestratorParts } from '../../src/orchestrator/assemble.ts';
import type { Incarnation } from './incarnation.ts';
import type { World } from './world.ts';

/** A part that is broken on purpose, to show that the rules notice. */
export interface Sabotage {
  readonly parts?: (parts: OrchestratorParts, world: World, incarnation: Incarnation) => OrchestratorParts;
  readonly beforeTracker?: (name: string) => Promise<void>;
  /** After every step, with the whole world in reach. */
  readonly afterStep?: (world: World) => void;
}
