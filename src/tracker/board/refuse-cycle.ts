import { BatonError } from '../../core/baton-error.ts';
import type { StoreTables } from '../../store/store.ts';
import type { BoardIssue } from '../../store/tables/board-issues.ts';
import { boardErrors } from './board-errors.ts';

/** How many issues of a cycle the message names; all of them are in the details. */
const longestShown = 12;

/** Throws `board_cycle` when the blocker already waits for the issue, directly or through others. */
export async function refuseBlockerCycle(
  tables: StoreTables,
  project: string,
  issue: BoardIssue,
  blocker: BoardIssue,
): Promise<void> {
  const path = await findPath(tables, project, blocker, issue.id, ({ blockers }) => blockers.map(({ id }) => id));
  if (path !== null) throw cycle('blockers', [issue.identifier, ...path], 'would wait for itself', 'waits for');
}

/** Throws `board_cycle` when the issue is an ancestor of its new parent. */
export async function refuseParentCycle(
  tables: StoreTables,
  project: string,
  issue: BoardIssue,
  parentId: string,
): Promise<void> {
  const [parent] = await tables.boardIssues.readMany(project, [parentId]);
  if (parent === undefined) {
    throw new BatonError('tracker_issue_not_found', `There is no issue with the id "${parentId}" on the board.`);
  }
  const upwards = ({ parentId: next }: BoardIssue): string[] => (next === null ? [] : [next]);
  const path = await findPath(tables, project, parent, issue.id, upwards);
  if (path !== null) throw cycle('parents', [issue.identifier, ...path], 'would be its own ancestor', 'is part of');
}

function cycle(links: 'blockers' | 'parents', identifiers: readonly string[], what: string, link: string): BatonError {
  const isLong = identifiers.length > longestShown;
  const shown = isLong ? [...identifiers.slice(0, longestShown - 2), '…', identifiers.at(-1)] : identifiers;
  const text = `${identifiers[0]} ${what}: ${shown.join(` ${link} `)}.`;
  return new BatonError(boardErrors.board_cycle, text, { details: { links, cycle: identifiers } });
}

/** The identifiers on a shortest path from one issue to another, both included; null when there is none. */
async function findPath(
  tables: StoreTables,
  project: string,
  start: BoardIssue,
  targetId: string,
  next: (issue: BoardIssue) => readonly string[],
): Promise<string[] | null> {
  /** Each issue reached in the last step, with the path to it. */
  let edge: { issue: BoardIssue; path: string[] }[] = [{ issue: start, path: [start.identifier] }];
  const seen = new Set([start.id]);
  while (edge.length > 0) {
    const arrived = edge.find(({ issue }) => issue.id === targetId);
    if (arrived !== undefined) return arrived.path;
    const ways = new Map<string, string[]>();
    for (const { issue, path } of edge) {
      for (const id of next(issue)) if (!seen.has(id)) ways.set(id, path);
    }
    for (const id of ways.keys()) seen.add(id);
    const reached = await tables.boardIssues.readMany(project, [...ways.keys()]);
    edge = reached.map((issue) => ({ issue, path: [...(ways.get(issue.id) ?? []), issue.identifier] }));
  }
  return null;
}
