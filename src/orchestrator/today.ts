import { utcDay } from '../core/utc-day.ts';
import type { OrchestratorContext } from './context.ts';
import { spentInFlight } from './scheduling-state.ts';

/** The counters of a day belong to no issue. Should a tracker have one of this id: their names are not an issue's. */
const noIssue = '@day';
const isOfDay = /^(tokens|micro_usd) /;

/** Reads what the runs of this day have used, by every daemon on the store. Runs in flight are counted apart. */
export async function readToday({ store, project, clock, state }: OrchestratorContext): Promise<void> {
  const { today } = state;
  const day = utcDay(clock.now());
  const [sum] = await store.usage.sumByDay(project, { fromDay: day, toDay: day });
  const allowed = await store.counters.read({ project, issueId: noIssue });
  today.readings += 1;
  today.day = day;
  today.tokens = sum?.totalTokens ?? 0;
  today.microUsd = sum?.costMicroUsd ?? 0;
  today.allowedAfter = { tokens: allowed[`tokens ${day}`] ?? 0, microUsd: allowed[`micro_usd ${day}`] ?? 0 };
}

/** A person lets work go on though the limit of the day is reached: from here on it counts anew. */
export async function allowMoreToday(context: OrchestratorContext): Promise<void> {
  const { store, project, state } = context;
  await readToday(context);
  const { day } = state.today;
  // What is being interrupted just now is used up too.
  const inFlight = spentInFlight(state);
  const tokens = state.today.tokens + inFlight.tokens;
  const microUsd = state.today.microUsd + inFlight.microUsd;
  const key = { project, issueId: noIssue };
  await store.transaction(async ({ counters }) => {
    const earlier = Object.keys(await counters.read(key)).filter((name) => isOfDay.test(name));
    if (earlier.length > 0) await counters.clear(key, earlier);
    await counters.set(key, `tokens ${day}`, tokens);
    await counters.set(key, `micro_usd ${day}`, microUsd);
  });
  state.today.allowedAfter = { tokens, microUsd };
}
