/** The only source of randomness: jitter, ids, and in a simulation every random choice. */
export interface Chance {
  /** At least 0, below 1. */
  next(): number;
  /** A new unique id, usable as a file name. */
  id(): string;
}
