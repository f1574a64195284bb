import { whyNotCandidate } from '../../../src/core/dispatch/eligibility.ts';
import type { World } from '../world.ts';
import { waitingParents, waitsForPlan } from './planner/waiting-parents.ts';
import type { Rule } from './rule.ts';
import { storedAccounts, whyAccountWaits } from './stored-accounts.ts';
import { waitingTasks } from './tasks/tasks-end.ts';

/** Some time after the faults end, every issue that could be worked on is finished, or held for a reason. */
export function issuesFinish(world: World): Rule {
  return {
    atEnd: () => {
      for (const id of leftOver(world))
        world.broke('issues_finish', id, `it is still "${world.book.get(id)?.state}", and not held`);
      for (const { pid, issueId } of world.processes.all())
        world.broke('issues_finish', issueId, `process ${pid} is left after a stop in good order`);
      for (const { runId, issueId } of world.ledger.unfinished.values())
        world.broke('issues_finish', issueId, `run ${runId} has no end in the store`);
      claimsLeft(world);
      for (const check of ['integrity_check', 'foreign_key_check'])
        for (const row of world.memory.look<Record<string, unknown>>(`pragma ${check}`))
          if (row.integrity_check !== 'ok') world.broke('issues_finish', null, `${check}: ${JSON.stringify(row)}`);
    },
  };
}

/** The issues that should be finished but are not. */
export function leftOver(world: World): string[] {
  const { book, file, memory, clock, wallJumpedAt } = world;
  // Quota resets at a wall time: if the clock was set back, the remaining wait is unknown.
  const isWallSet = Number.isFinite(wallJumpedAt);
  if (isWallSet && nobodyIsReady(world)) return [];
  const waiting = isWallSet ? memory.look<{ issue_id: string }>(quotaWaits, clock.now()) : [];
  const excused = new Set(waiting.map(({ issue_id }) => issue_id));
  const held = new Set(
    memory.look<{ issue_id: string }>("select issue_id from held where reason <> ''").map(({ issue_id }) => issue_id),
  );
  const active = book
    .all()
    .filter(
      (issue) =>
        whyNotCandidate(issue, file.settings.tracker) === null &&
        !held.has(issue.id) &&
        !excused.has(issue.id) &&
        !waitsForPlan(world, issue.id),
    )
    .map(({ id }) => id);
  const others = [...waitingParents(world), ...waitingTasks(world)];
  return [...active, ...others.filter((id) => !held.has(id) && !excused.has(id))];
}

const quotaWaits = "select issue_id from retries where kind = 'quota' and due_at > ?";

function nobodyIsReady({ memory, clock, file }: World): boolean {
  const { accounts, quotaStopPercent } = file.settings.agent;
  const states = storedAccounts(memory);
  return accounts.every(({ name }) => whyAccountWaits(states.get(name), clock.now(), quotaStopPercent) !== null);
}

/** After an orderly stop only held issues keep a claim. */
function claimsLeft(world: World): void {
  const rows = world.memory.look<{ issue_id: string; owner: string }>(
    'select issue_id, owner from claims where owner is not null and issue_id not in (select issue_id from held) and issue_id not in (select issue_id from retries)',
  );
  for (const { issue_id, owner } of rows) world.broke('issues_finish', issue_id, `${owner} has left its claim behind`);
}
