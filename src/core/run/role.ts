/**
 * What an agent is started for. A judge reviews a change that a worker delivered, a phase judge the artifact of a phase; a
 * phase agent writes that artifact, a planner splits an issue into smaller ones, the agent of an intake and a scanner
 * propose issues, the one of a setup finds out how a repository is built and tested, a learner says what earlier work
 * taught. An issue may have runs of different roles over time; at any moment it has one live agent.
 *
 * The rows are in the order of their starts (seed 4, Dispatch Priority: setup, judge, phase agents, workers and planners,
 * scanner). Roles of one row are equals. A new role is one word here.
 */
const startOrder = [
  ['setup', 'intake'],
  ['judge', 'phase_judge'],
  ['phase'],
  ['worker', 'planner'],
  ['scanner', 'learner'],
] as const;

export type Role = (typeof startOrder)[number][number];

export const roles: readonly Role[] = startOrder.flat();

const ranks = new Map<Role, number>(startOrder.flatMap((row, rank) => row.map((role) => [role, rank] as const)));

/** A lower one starts earlier. */
export function roleRank(role: Role): number {
  return ranks.get(role) ?? startOrder.length;
}

/** The role of a stored run; one of a later Baton works, as far as this one can tell. */
export function roleOf(stored: string | null | undefined): Role {
  return roles.find((role) => role === stored) ?? 'worker';
}

/** It works in a checkout of its own that is deleted afterwards, and has no workspace. */
export function hasOwnCheckout(role: Role): boolean {
  return onlyReads(role) || role === 'setup';
}

/** It reads and decides, and changes nothing in its checkout. */
export function onlyReads(role: Role): boolean {
  return isJudge(role) || role === 'planner' || role === 'intake' || role === 'scanner' || role === 'learner';
}

/** Judges have extra slots, and their runs are not counted as runs of the issue. */
export function isJudge(role: Role): boolean {
  return role === 'judge' || role === 'phase_judge';
}
