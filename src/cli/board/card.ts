import { harmlessLine } from '../../core/text/harmless-line.ts';
import type { BoardIssue } from '../../store/tables/board-issues.ts';

/** What the board shows of an issue, made harmless. */
export interface Card {
  readonly head: string;
  readonly title: string;
  /** What it waits for; empty when nothing keeps it. */
  readonly waits: string;
}

export function cardOf(issue: BoardIssue): Card {
  const open = issue.blockers.filter(({ status }) => status !== 'done' && status !== 'cancelled');
  const isOver = issue.status === 'done' || issue.status === 'cancelled';
  return {
    head: issue.priority === null ? issue.identifier : `${issue.identifier} P${issue.priority}`,
    title: harmlessLine(issue.title),
    waits: isOver || open.length === 0 ? '' : `waits for ${open.map(({ identifier }) => identifier).join(', ')}`,
  };
}
