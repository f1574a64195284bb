import type { AccountState, QuotaWindow } from '../../../src/core/account.ts';
import type { LedgerRun } from '../run-ledger.ts';
import type { World } from '../world.ts';
import type { Rule } from './rule.ts';
import { storedAccounts, whyAccountWaits } from './stored-accounts.ts';

/** From the refusal of an agent to the end of its run in the store, which may be out of reach for as long. */
const endingMs = 300_000;

const refusals = new Set<string | null>(['agent_quota_exhausted', 'agent_auth_failed']);

/**
 * Nothing starts on an account that the store has as parked, or as nearly used up, by the clock of whoever starts it; and
 * when a run has ended for the sake of its account, the store has that account as parked, for a reason that agents gave.
 */
export function accountReady(world: World): Rule {
  return {
    runStarted: (run) => {
      const { quotaStopPercent } = world.file.settings.agent;
      const account = storedAccounts(world.memory).get(run.account ?? '');
      const { clock } = world.lives.get(run.life)?.life ?? world;
      const until = whyAccountWaits(account, clock.now(), quotaStopPercent);
      const fresher = account === undefined ? undefined : { ...account, windows: lastReports(world, account) };
      if (until === null || whyAccountWaits(fresher, clock.now(), quotaStopPercent) === null) return;
      const what = `run ${run.runId} starts on the account "${run.account}", which waits for ${until - clock.now()} ms`;
      world.broke('account_ready', run.issueId, what);
    },
    runEnded: (run) => {
      if (refusals.has(run.errorCode)) parked(world, run);
    },
  };
}

/** Its windows as agents last told of them: an agent at work may know better than the store. */
function lastReports({ accounts }: World, { name, windows }: AccountState): readonly QuotaWindow[] {
  return windows.map((window) => accounts.lastReport(name, window.name) ?? window);
}

function parked(world: World, { runId, issueId, life, account: name }: LedgerRun): void {
  // What could not be written is found out again by the next run; whoever says that he has logged in frees it.
  const failedAt = world.failedCalls.get(`${life} transaction`) ?? Number.NEGATIVE_INFINITY;
  if (world.now - failedAt < endingMs || Number.isFinite(world.loggedInAt)) return;
  // By a clock that was set, a run that began before an account was parked may seem to have begun after it.
  if (Number.isFinite(world.wallJumpedAt)) return;
  const account = storedAccounts(world.memory).get(name ?? '');
  if (account === undefined || account.parked === null)
    world.broke('account_ready', issueId, `run ${runId} was refused and the account "${name}" is not parked`);
  else if (!world.accounts.isTold(account))
    world.broke('account_ready', issueId, `the account "${name}" waits for longer than any agent said`);
}
