/** What upkeep found and did. */
export interface StoreUpkeep {
  /** How many pages the write-ahead log had; 0 where there is none. */
  readonly walPages: number;
  /** Of these, how many are in the file itself now. */
  readonly checkpointed: number;
  /** Somebody read or wrote just then: the rest is for the next time. No error. */
  readonly busy: boolean;
}

export const noUpkeep: StoreUpkeep = { walPages: 0, checkpointed: 0, busy: false };
