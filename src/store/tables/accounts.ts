import type { AccountState } from '../../core/account/account.ts';

/** What is known of the accounts of agents: their quota windows, and until when they are parked. Of all projects. */
export interface Accounts {
  list(): Promise<readonly AccountState[]>;
  /** Replaces what is known of the account. */
  put(account: AccountState, at: number): Promise<void>;
}
