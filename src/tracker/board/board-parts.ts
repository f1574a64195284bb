import type { Chance } from '../../clock/chance.ts';
import type { Clock } from '../../clock/clock.ts';
import type { Store } from '../../store/store.ts';

/** Where a board is stored. */
export interface BoardStorage {
  readonly store: Store;
  /** The id of the project in the store. */
  readonly project: string;
  readonly clock: Clock;
  readonly chance: Chance;
  /** Called after each change is committed, to wake the orchestrator. Must not throw. */
  readonly onChange: () => void;
}

export interface BoardParts extends BoardStorage {
  /** The prefix of new identifiers, such as `BAT`. */
  readonly prefix: string;
}
