import { utcDay } from '../core/utc-day.ts';
import type { OrchestratorContext } from './context.ts';

/** The counters of a day belong to no issue; no tracker has an issue of this id. */
const noIssue = '@day';

/** Reads what the runs of this day have used, by every daemon on the store. Runs in flight are counted apart. */
export async function readToday({ store, project, clock, state }: OrchestratorContext): Promise<void> {
  const { today } = state;
  const day = utcDay(clock.now());
  const [sum] = await store.usage.sumByDay(project, { fromDay: day, toDay: day });
  const allowed = await store.counters.read({ project, issueId: noIssue });
  today.day = day;
  today.tokens = sum?.totalTokens ?? 0;
  today.microUsd = sum?.costMicroUsd ?? 0;
  today.allowedAfter = { tokens: allowed[`tokens ${day}`] ?? 0, microUsd: allowed[`micro_usd ${day}`] ?? 0 };
}

/** A person lets work go on though the limit of the day is reached: from here on it counts anew. */
export async function allowMoreToday(context: OrchestratorContext): Promise<void> {
  const { store, project, state } = context;
  await readToday(context);
  const { day, tokens, microUsd } = state.today;
  const key = { project, issueId: noIssue };
  await store.transaction(async ({ counters }) => {
    await counters.clear(key);
    await counters.set(key, `tokens ${day}`, tokens);
    await counters.set(key, `micro_usd ${day}`, microUsd);
  });
  state.today.allowedAfter = { tokens, microUsd };
}
