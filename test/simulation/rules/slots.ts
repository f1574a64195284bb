import { slotsForJudges } from '../../../src/core/dispatch/slots.ts';
import { normalizeState } from '../../../src/core/issue/issue.ts';
import { isJudge, roleOf } from '../../../src/core/run/role.ts';
import type { LedgerRun } from '../run-ledger.ts';
import type { World } from '../world.ts';
import { knowledgeLagMs } from './knowledge-lag.ts';
import type { Rule } from './rule.ts';

/** A settings edit may come between a decision and the run that it started. */
const decisionMs = 60_000;

/** No run starts beyond a limit. Runs in progress continue when a limit is lowered. */
export function slots(world: World): Rule {
  return {
    runStarted: (run) => {
      const others = occupants(world, run);
      const most = limit(world);
      const roles = rolesOf(world, run);
      const workers = roles.filter((role) => !isJudge(roleOf(role))).length;
      const all = most + slotsForJudges(most, world.file.settings.judge.extraSlotsPercent);
      if (!isJudge(roleOf(run.role)) && workers + 1 > most)
        world.broke('slots', run.issueId, `run ${run.runId} is number ${workers + 1} of ${most}: ${others.join(' ')}`);
      if (roles.length + 1 > all)
        world.broke('slots', run.issueId, `run ${run.runId} is number ${roles.length + 1} of ${all} with judges`);
      inState(world, run, others);
    },
  };
}

/** The issues with a live agent, or with a run of a living daemon that will have one. */
export function occupants(world: World, but?: LedgerRun): string[] {
  return [...occupantRuns(world, but).values()];
}

function rolesOf(world: World, but: LedgerRun): string[] {
  return [...occupantRuns(world, but).keys()].map((runId) => world.ledger.roles.get(runId) ?? 'worker');
}

function occupantRuns(world: World, but?: LedgerRun): ReadonlyMap<string, string> {
  const { ledger, incarnations, processes } = world;
  const runs = [...ledger.unfinished.values()].filter(
    ({ incarnation }) => incarnations.get(incarnation)?.incarnation.isAlive ?? false,
  );
  const byRun = new Map(runs.map(({ runId, issueId }) => [runId, issueId]));
  // Processes on a frozen machine that no other daemon reaches take no slot.
  for (const { runId, issueId, machine } of processes.all())
    if (!world.isStandingStill(machine)) byRun.set(runId, issueId);
  if (but !== undefined) byRun.delete(but.runId);
  return byRun;
}

function limit({ file, now }: World): number {
  const before = file.before.filter(({ until }) => now - until < decisionMs).map(({ slots }) => slots);
  return Math.max(file.settings.agent.maxConcurrentAgents, ...before);
}

/** By state: only runs whose state the daemon has had time to read count. Agents that no signal ended count for no state. */
function inState(world: World, run: LedgerRun, others: readonly string[]): void {
  const { book, file, now, processes } = world;
  const known = (id: string): string | null => {
    const since = book.stateSince.get(id) ?? now;
    return now - since > knowledgeLagMs(world) ? normalizeState(book.get(id)?.state ?? '') : null;
  };
  const state = known(run.issueId);
  if (state === null) return;
  const most = file.settings.agent.maxConcurrentAgentsByState[state];
  const survivors = new Set(processes.all().flatMap(({ survives, issueId }) => (survives ? [issueId] : [])));
  const count = others.filter((id) => known(id) === state && !survivors.has(id)).length + 1;
  if (most !== undefined && count > most)
    world.broke('slots', run.issueId, `run ${run.runId} is number ${count} of ${most} in "${state}"`);
}
