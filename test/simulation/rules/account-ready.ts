import type { AccountState, QuotaWindow } from '../../../src/core/account/account.ts';
import { afterProbe, needsProbe } from '../../../src/core/account/account-park.ts';
import type { LedgerRun } from '../run-ledger.ts';
import type { World } from '../world.ts';
import type { Rule } from './rule.ts';
import { storedAccounts, whyAccountWaits } from './stored-accounts.ts';

/** From the refusal of an agent to the end of its run in the store, which may be out of reach for as long. */
const endingMs = 300_000;

const refusals = new Set<string | null>(['agent_quota_exhausted', 'agent_auth_failed']);

/**
 * Nothing starts on an account that the store has as out of use, or as nearly used up, by the clock of the daemon that starts it. One
 * that must be tried, because it is unknown whether it works again, is tried by one run at a time, which the store records. And
 * when a run has ended because of its account, the store has that account as out of use, for a reason that agents gave.
 */
export function accountReady(world: World): Rule {
  /** When each account was first seen out of use in the store. */
  const parkedAt = new Map<string, number>();
  return {
    runStarted: (run) => {
      const { clock } = world.incarnations.get(run.incarnation)?.incarnation ?? world;
      const found = storedAccounts(world.memory).get(run.account ?? '');
      if (found === undefined) return;
      const stored = afterProbe(found, run.runId);
      if (stored === found && needsProbe(found, clock.now()))
        world.broke('account_ready', run.issueId, `run ${run.runId} is not the one that tries "${run.account}"`);
      if (isTriedAgain(world, run, parkedAt.get(keyOf(stored)))) return;
      const { quotaStopPercent } = world.file.settings.agent;
      const told = { ...stored, windows: lastReports(world, stored) };
      const waits = [stored, told].map((account) => whyAccountWaits(account, clock.now(), quotaStopPercent));
      const [until = null] = waits;
      if (until === null || waits.includes(null)) return;
      const what = `run ${run.runId} starts on the account "${run.account}", which waits for ${until - clock.now()} ms`;
      world.broke('account_ready', run.issueId, what);
    },
    runEnded: (run) => {
      if (refusals.has(run.errorCode)) parked(world, run);
    },
    afterStep: () => {
      if (!world.storeHasChanged) return;
      for (const account of storedAccounts(world.memory).values())
        if (!parkedAt.has(keyOf(account))) parkedAt.set(keyOf(account), world.now);
    },
  };
}

function keyOf({ name, parked }: AccountState): string {
  return `${name} ${parked?.until}`;
}

/** A person asked to try it after it went out of use, and that could not be recorded. */
function isTriedAgain(world: World, { incarnation }: LedgerRun, since: number | undefined): boolean {
  return Math.max(world.triedAgainAt, world.loginTriedAt) >= (since ?? world.now) && hasFailed(world, incarnation);
}

function hasFailed({ failedCalls, now }: World, incarnation: string): boolean {
  return now - (failedCalls.get(`${incarnation} transaction`) ?? Number.NEGATIVE_INFINITY) < endingMs;
}

/** Its windows as agents last reported them; a running agent may have newer data than the store. */
function lastReports({ accounts }: World, { name, windows }: AccountState): readonly QuotaWindow[] {
  return windows.map((window) => accounts.lastReport(name, window.name) ?? window);
}

function parked(world: World, { runId, issueId, incarnation, account: name }: LedgerRun): void {
  // If it could not be written, the next run finds out again.
  if (hasFailed(world, incarnation)) return;
  // After the clock was set, a run that started before an account went out of use may seem to have started later.
  if (Number.isFinite(world.wallJumpedAt)) return;
  const account = storedAccounts(world.memory).get(name ?? '');
  if (account === undefined || account.parked === null)
    world.broke('account_ready', issueId, `run ${runId} was refused and the account "${name}" is not parked`);
  else if (!world.accounts.isAnnounced(account))
    world.broke('account_ready', issueId, `the account "${name}" waits for longer than any agent said`);
}
