/** The one source of chance: jitter, ids, and in a simulation every choice that is drawn. */
export interface Chance {
  /** At least 0, below 1. */
  next(): number;
  /** A new identifier that no other has, usable as a file name. */
  id(): string;
}
