import type { DaySpent } from '../core/limits.ts';
import { utcDay } from '../core/utc-day.ts';
import type { RunRecord } from '../store/runs.ts';
import type { UsageSum } from '../store/usage.ts';
import type { OrchestratorContext } from './context.ts';
import type { SchedulingState } from './scheduling-state.ts';

/** The counters of a day belong to no issue. Should a tracker have one of this id: their names are not an issue's. */
const noIssue = '@day';
const isOfDay = /^(tokens|micro_usd) /;

/** So often a reading begins anew because a run ended under it; then the next reading has it. */
const mostTries = 3;

/**
 * Reads what this day has used; gives the runs that have no end, as the store has them. What a day has used is what the runs that ended on it used, by every daemon on the store, and what all runs in flight
 * have used so far. Each run counts once:
 *
 * - one that is in flight here by what it told us, for the store is a moment behind;
 * - one that has no end and is not in flight here, of another daemon or of one that is gone, by its row (`elsewhere`);
 * - one that has ended by the sum of its day;
 * - one whose end is being written here still by what it told us, until a reading has found that end.
 */
export async function readToday({ store, project, clock, state }: OrchestratorContext): Promise<readonly RunRecord[]> {
  const day = utcDay(clock.now());
  const { sum, unfinished } = await readSpending(store, project, day);
  const allowed = await store.counters.read({ project, issueId: noIssue });

  // No await from here on: which runs are in flight here is asked at the moment in which the reading holds.
  const { today } = state;
  today.readings += 1;
  for (const { issueId, runId } of unfinished) {
    const entry = state.running.get(issueId);
    // Its end is being written, and this reading does not have it yet.
    if (entry?.runId === runId && entry.settlingSince !== null) entry.settlingSince = today.readings;
  }
  const elsewhere = spentElsewhere(state, unfinished);
  today.day = day;
  today.tokens = (sum?.totalTokens ?? 0) + elsewhere.tokens;
  today.microUsd = (sum?.costMicroUsd ?? 0) + elsewhere.microUsd;
  today.elsewhere = elsewhere;
  today.allowedAfter = { tokens: allowed[`tokens ${day}`] ?? 0, microUsd: allowed[`micro_usd ${day}`] ?? 0 };
  return unfinished;
}

/** What counts for the limits of today. */
export function spentToday({ state, clock }: Pick<OrchestratorContext, 'state' | 'clock'>): DaySpent {
  const { today } = state;
  const here = spentHere(state);
  // What was read yesterday is over, read again or not; but what had no end then ends today, or is still in flight.
  if (today.day !== utcDay(clock.now())) return added(here, today.elsewhere);
  return {
    tokens: today.tokens + here.tokens - today.allowedAfter.tokens,
    microUsd: today.microUsd + here.microUsd - today.allowedAfter.microUsd,
  };
}

/** A person lets work go on though the limit of the day is reached: from here on it counts anew. */
export async function allowMoreToday(context: OrchestratorContext): Promise<void> {
  const { store, project, state } = context;
  await readToday(context);
  const { day } = state.today;
  // What is being interrupted just now is used up too.
  const { tokens, microUsd } = added(state.today, spentHere(state));
  const key = { project, issueId: noIssue };
  await store.transaction(async ({ counters }) => {
    const earlier = Object.keys(await counters.read(key)).filter((name) => isOfDay.test(name));
    if (earlier.length > 0) await counters.clear(key, earlier);
    await counters.set(key, `tokens ${day}`, tokens);
    await counters.set(key, `micro_usd ${day}`, microUsd);
  });
  state.today.allowedAfter = { tokens, microUsd };
}

/**
 * The sum of the day and the runs without an end, as if of one moment: a run that ends between the two reads would be
 * counted twice or not at all, so whoever had no end before the sum was read must have none after it.
 */
async function readSpending(
  store: OrchestratorContext['store'],
  project: string,
  day: string,
): Promise<{ readonly sum: UsageSum | undefined; readonly unfinished: readonly RunRecord[] }> {
  let before = await store.runs.unfinished(project);
  for (let tries = 1; ; tries += 1) {
    const [sum] = await store.usage.sumByDay(project, { fromDay: day, toDay: day });
    const unfinished = await store.runs.unfinished(project);
    const still = new Set(unfinished.map(({ runId }) => runId));
    if (tries === mostTries || before.every(({ runId }) => still.has(runId))) return { sum, unfinished };
    before = unfinished;
  }
}

function spentElsewhere({ running }: SchedulingState, unfinished: readonly RunRecord[]): DaySpent {
  return unfinished
    .filter(({ issueId, runId }) => running.get(issueId)?.runId !== runId)
    .reduce(
      (sum, { totalTokens, costMicroUsd }) => added(sum, { tokens: totalTokens, microUsd: costMicroUsd }),
      nothing,
    );
}

/** The runs in flight here, but for those whose end a reading of the day has found already. */
function spentHere({ running, today }: SchedulingState): DaySpent {
  return [...running.values()]
    .filter(({ settlingSince }) => settlingSince === null || settlingSince === today.readings)
    .reduce((sum, { usage }) => added(sum, { tokens: usage.totalTokens, microUsd: usage.costMicroUsd }), nothing);
}

const nothing: DaySpent = { tokens: 0, microUsd: 0 };

function added(left: DaySpent, right: DaySpent): DaySpent {
  return { tokens: left.tokens + right.tokens, microUsd: left.microUsd + right.microUsd };
}
