import type { OrchestratorContext } from './context.ts';

/** A person wants to know it now: whatever an account is parked for, it is tried. */
export function tryAccounts({ accounts, source }: OrchestratorContext): Promise<void> {
  return accounts.tryAgain(source.read().workflow.settings.agent.backend, ['quota', 'auth']);
}

/** A person is there and lets an issue go on: he may have logged in. That there is quota again nobody said. */
export function tryLogins({ accounts, source }: OrchestratorContext): Promise<void> {
  return accounts.tryAgain(source.read().workflow.settings.agent.backend, ['auth']);
}
