import { whyNotCandidate } from '../../../src/core/dispatch/eligibility.ts';
import { stateOnceStarted, whyNoSlot } from '../../../src/core/dispatch/slots.ts';
import type { Role } from '../../../src/core/run/role.ts';
import type { RetryKind } from '../../../src/core/workflow.ts';
import type { Incarnation } from '../incarnation.ts';
import { isBadWeather } from '../start-weather.ts';
import type { RunningDaemon, World } from '../world.ts';
import { knowledgeLagMs } from './knowledge-lag.ts';
import { waitsForPlan } from './planner/waiting-parents.ts';
import type { Rule } from './rule.ts';
import { occupants } from './slots.ts';
import { spentToday } from './spent-today.ts';
import { whyAccountWaits } from './stored-accounts.ts';

/** How often the rule checks; the faults that it looks for last longer. */
const lookEveryMs = 2_000;
/** As long as the daemon guesses at most. */
const longestQuotaWaitMs = 3_600_000;

/**
 * An issue that could start, with a free slot, for two whole ticks of a healthy and undisturbed daemon, has
 * started, has a scheduled retry, or is held.
 */
export function noIssueForgotten(world: World): Rule {
  const since = new Map<string, number>();
  /** When each daemon last had no usable account. */
  const accountsWaited = new WeakMap<Incarnation, number>();
  let nextLookAt = 0;
  return {
    afterStep: () => {
      if (isDisturbed(world)) world.disturbedAt = world.now;
      if (world.now < nextLookAt) return;
      nextLookAt = world.now + lookEveryMs;
      for (const { incarnation } of world.running.filter((each) => isOutOfAccounts(world, each)))
        accountsWaited.set(incarnation, world.now);
      for (const id of world.book.ids()) {
        if (!couldStart(world, id)) since.delete(id);
        else if (!since.has(id)) since.set(id, world.now);
        else if (isForgotten(world, id, since.get(id) ?? 0, accountsWaited)) tell(world, id, since.get(id));
      }
    },
  };
}

function tell(world: World, id: string, since: number | undefined): void {
  world.broke('no_issue_forgotten', id, `it could be started since ${since} ms: ${whatIsSaid(world, id)}`);
}

function isDisturbed(world: World): boolean {
  const { running, plan } = world;
  return running.length < plan.daemons || running.some(({ incarnation }) => !incarnation.isUp) || isBadWeather(world);
}

function couldStart(world: World, id: string): boolean {
  const { book, file, plan, processes } = world;
  const issue = book.get(id);
  const role = issue === undefined ? 'worker' : roleOf(world, id);
  if (issue === undefined || whyNotCandidate(issue, file.settings.tracker, role) !== null) return false;
  if (waitsForPlan(world, id)) return false;
  // An agent that no signal ended keeps its slot until a person confirms that it is gone.
  const survivors = world.memory.look<{ issue_id: string }>(heldForSurvivor).map(({ issue_id }) => issue_id);
  const busy = [...new Set([...occupants(world), ...survivors])];
  if (busy.includes(id) || processes.ofIssue(id).length > 0) return false;
  const state = stateOnceStarted(issue, plan.startMove ? { from: 'Todo', to: 'In Progress' } : undefined);
  // A daemon counts a run by its last known active state, so any occupant may be counted here; and by its role.
  return (['worker', 'judge', 'phase'] as const).every((each) => {
    const taken = busy.map(() => ({ state, role: each }));
    return (
      (role === 'worker' && each !== 'worker') || whyNoSlot({ state, role }, taken, file.settings, () => true) === null
    );
  });
}

/** The judge of an artifact takes the slot of a phase agent at worst. */
function roleOf(world: World, id: string): Role {
  if (wantsJudge(world, id)) return 'judge';
  const [record] = world.memory.look<{ phase: string }>('select phase from phases where issue_id = ?', id);
  return world.pipeline === null || record?.phase === 'ready' ? 'worker' : 'phase';
}

/** A change in review that its checks let through, without any verdict. At GitHub its checks come late. */
function wantsJudge({ file, memory, plan }: World, id: string): boolean {
  const { judge, review } = file.settings;
  if (judge.agents.length === 0 || plan.review == null || plan.review.github !== null) return false;
  return memory.look(unjudged, id, review.checks.length).length > 0;
}

const unjudged = `
  select 1 from pull_requests as pull where issue_id = ? and merged_at is null and closed_at is null
    and sent_back_at is null and moved_at is not null and approved_at is null
    and not exists (select 1 from verdicts where verdicts.project = pull.project and verdicts.number = pull.number
      and verdicts.commit_id = pull.head_commit)
    and (select count(*) from checks where checks.project = pull.project and checks.number = pull.number
      and checks.commit_id = pull.head_commit and result in ('passed', 'skipped')) = ?`;

const heldForSurvivor = "select issue_id from held where code = 'agent_survives'";

function isForgotten(world: World, id: string, since: number, accountsWaited: WeakMap<Incarnation, number>): boolean {
  const waitedMs = world.now - Math.max(since, world.disturbedAt, world.book.changedAt.get(id) ?? 0);
  if (waitedMs <= knowledgeLagMs(world) || isDayOver(world)) return false;
  return world.running.every(({ incarnation, orchestrator }) => {
    if (world.now - (accountsWaited.get(incarnation) ?? Number.NEGATIVE_INFINITY) <= knowledgeLagMs(world))
      return false;
    const { held, retrying, waitingQuota, paused, running } = orchestrator.read();
    if (paused !== null || held.some(({ issue }) => issue.id === id)) return false;
    if (running.some(({ issue }) => issue.id === id)) return false;
    const look = [...retrying, ...waitingQuota].find(({ issue }) => issue.id === id);
    // A change that could not be brought into review waits longer after each try.
    const againMs = look?.kind === 'review' ? 1.1 * world.plan.settings.agent.maxRetryBackoffMs : 0;
    if (waitedMs <= knowledgeLagMs(world) + againMs) return false;
    // A retry that is long overdue does not count. Its time is wall time, and the clock may have been set since.
    return (
      look === undefined ||
      (!mayBeMisdated(world, look.kind) && incarnation.clock.now() - look.dueAt > knowledgeLagMs(world))
    );
  });
}

/** No account is usable, each for a reason that an agent gave, not one that a daemon invented. */
function isOutOfAccounts({ accounts, file, ledger }: World, { incarnation, orchestrator }: RunningDaemon): boolean {
  const { accounts: inForce, quotaStopPercent } = file.settings.agent;
  const known = new Map(orchestrator.read().accounts.map((account) => [account.name, account]));
  return inForce.every(({ name }) => {
    const account = known.get(name);
    const until = whyAccountWaits(account, incarnation.clock.now(), quotaStopPercent);
    const probe = account?.parked?.probe;
    // A run that tries it is in progress.
    const isTried = probe === undefined || ledger.unfinished.has(probe.by);
    return account !== undefined && until !== null && isTried && accounts.isAnnounced(account);
  });
}

/** Whether the wall clock was set since the oldest waiting retry was scheduled. */
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
  const words = running.map(({ incarnation, orchestrator }) => {
    const { skipped, errors } = orchestrator.read();
    const reason = skipped.find(({ issue }) => issue.id === id)?.reason.text ?? 'nothing';
    return `${incarnation.name} says ${reason}${errors.map(({ step, error }) => `, ${step}: ${error.message}`).join('')}`;
  });
  return words.join('; ');
}
