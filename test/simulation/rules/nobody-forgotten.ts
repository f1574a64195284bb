import { whyNotCandidate } from '../../../src/core/dispatch/eligibility.ts';
import { stateOnceStarted, whyNoSlot } from '../../../src/core/dispatch/slots.ts';
import type { RetryKind } from '../../../src/core/workflow.ts';
import type { Life } from '../life.ts';
import { isBadWeather } from '../start-weather.ts';
import type { Incarnation, World } from '../world.ts';
import { knowledgeLagMs } from './knowledge-lag.ts';
import type { Rule } from './rule.ts';
import { occupants } from './slots.ts';
import { spentToday } from './spent-today.ts';
import { whyAccountWaits } from './stored-accounts.ts';

/** The rule looks this often: what it looks for lasts. */
const lookEveryMs = 2_000;
/** As long as the daemon guesses at most. */
const longestQuotaWaitMs = 3_600_000;

/**
 * An issue that could be started, with a free slot, for two whole ticks of a healthy daemon that nothing disturbs, has
 * been started, or has a look ahead, or is held.
 */
export function nobodyForgotten(world: World): Rule {
  const since = new Map<string, number>();
  /** When each daemon last had no account to go on with. */
  const accountsWaited = new WeakMap<Life, number>();
  let nextLookAt = 0;
  return {
    afterStep: () => {
      if (isDisturbed(world)) world.disturbedAt = world.now;
      if (world.now < nextLookAt) return;
      nextLookAt = world.now + lookEveryMs;
      for (const { life } of world.running.filter((each) => isOutOfAccounts(world, each)))
        accountsWaited.set(life, world.now);
      for (const id of world.book.ids()) {
        if (!couldStart(world, id)) since.delete(id);
        else if (!since.has(id)) since.set(id, world.now);
        else if (isForgotten(world, id, since.get(id) ?? 0, accountsWaited)) tell(world, id, since.get(id));
      }
    },
  };
}

function tell(world: World, id: string, since: number | undefined): void {
  world.broke('nobody_forgotten', id, `it could be started since ${since} ms: ${whatIsSaid(world, id)}`);
}

function isDisturbed(world: World): boolean {
  const { running, plan } = world;
  return running.length < plan.daemons || running.some(({ life }) => !life.isUp) || isBadWeather(world);
}

function couldStart(world: World, id: string): boolean {
  const { book, file, plan, processes } = world;
  const issue = book.get(id);
  if (issue === undefined || whyNotCandidate(issue, file.settings.tracker) !== null) return false;
  // An agent that no signal ended keeps its slot until a person says that it is gone.
  const survivors = world.memory.look<{ issue_id: string }>(heldForSurvivor).map(({ issue_id }) => issue_id);
  const busy = [...new Set([...occupants(world), ...survivors])];
  if (busy.includes(id) || processes.ofIssue(id).length > 0) return false;
  const state = stateOnceStarted(issue, plan.startMove ? { from: 'Todo', to: 'In Progress' } : undefined);
  // A daemon counts a run by the state that it last knew to be an active one: any occupant may be counted here.
  const states = busy.map(() => state);
  return whyNoSlot(state, states, file.settings.agent) === null;
}

const heldForSurvivor = "select issue_id from held where code = 'agent_survives'";

function isForgotten(world: World, id: string, since: number, accountsWaited: WeakMap<Life, number>): boolean {
  const waitedMs = world.now - Math.max(since, world.disturbedAt, world.book.changedAt.get(id) ?? 0);
  if (waitedMs <= knowledgeLagMs(world) || isDayOver(world)) return false;
  return world.running.every(({ life, orchestrator }) => {
    if (world.now - (accountsWaited.get(life) ?? Number.NEGATIVE_INFINITY) <= knowledgeLagMs(world)) return false;
    const { held, retrying, waitingQuota, paused, running } = orchestrator.read();
    if (paused !== null || held.some(({ issue }) => issue.id === id)) return false;
    if (running.some(({ issue }) => issue.id === id)) return false;
    const look = [...retrying, ...waitingQuota].find(({ issue }) => issue.id === id);
    // A look that should have come long ago is none. Its time is one of the wall clock, which may have been set since.
    return (
      look === undefined || (!mayBeMisdated(world, look.kind) && life.clock.now() - look.dueAt > knowledgeLagMs(world))
    );
  });
}

/** No account may be used, each for a reason that an agent gave. What a daemon made up is none. */
function isOutOfAccounts({ accounts, file, ledger }: World, { life, orchestrator }: Incarnation): boolean {
  const { accounts: inForce, quotaStopPercent } = file.settings.agent;
  const known = new Map(orchestrator.read().accounts.map((account) => [account.name, account]));
  return inForce.every(({ name }) => {
    const account = known.get(name);
    const until = whyAccountWaits(account, life.clock.now(), quotaStopPercent);
    const probe = account?.parked?.probe;
    // A run that tries it is one that goes on.
    const isTried = probe === undefined || ledger.unfinished.has(probe.by);
    return account !== undefined && until !== null && isTried && accounts.isAnnounced(account);
  });
}

/** Whether the wall clock was set since the oldest look that may still wait was promised. */
function mayBeMisdated({ now, wallJumpedAt, plan }: World, kind: RetryKind): boolean {
  const longestMs = kind === 'quota' ? longestQuotaWaitMs : plan.settings.agent.maxRetryBackoffMs;
  return now - wallJumpedAt < 2 * longestMs;
}

/** Whether the limit of the day may keep everything from starting. Its runs may just be ending. */
function isDayOver(world: World): boolean {
  const { tokensPerDay } = world.file.settings.limits;
  return tokensPerDay > 0 && spentToday(world) >= tokensPerDay;
}

function whatIsSaid({ running }: World, id: string): string {
  const words = running.map(({ life, orchestrator }) => {
    const { skipped, errors } = orchestrator.read();
    const reason = skipped.find(({ issue }) => issue.id === id)?.reason.text ?? 'nothing';
    return `${life.name} says ${reason}${errors.map(({ step, error }) => `, ${step}: ${error.message}`).join('')}`;
  });
  return words.join('; ');
}
