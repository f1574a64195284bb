import type { AccountState } from '../core/account.ts';
import type { OrchestratorContext } from './context.ts';

/**
 * Whether the issue of a run that found nobody logged in is the one that is held for that. One stands for all: the others
 * wait for the account, so that a person who has logged in lets one issue go on, not a hundred. It is the issue of the run
 * that the account was parked for, unless another one is held for the same already.
 */
export function isFirstToSay({ state }: OrchestratorContext, runId: string, account: AccountState | null): boolean {
  if (account === null) return true;
  if (account.parked?.by !== runId) return false;
  return account.parks === 1 || ![...state.held.values()].some(({ code }) => code === 'agent_auth_failed');
}
