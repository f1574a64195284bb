import { computed, type ReadonlySignal, type Signal, signal } from '@preact/signals';
import type { IssueDetail, IssueSummary, Move } from '../../../src/client/schema/issue.ts';
import { projectPath, read } from '../connection/api.ts';
import type { Board } from './board.ts';
import { findIssue } from './board-columns.ts';

/**
 * Which issues of the board the next action applies to: the selected ones, or the one that has the focus. What must
 * hold: the action applies to exactly the counted issues, also those that a filter hides.
 */
export interface BoardSelection {
  readonly ids: ReadonlySignal<ReadonlySet<string>>;
  /** Does nothing for null. */
  toggle(issue: IssueSummary | null): void;
  clear(): void;
  /** The selected issues, as they are now if that is known. */
  issues(): readonly IssueSummary[];
  /** The selected issues, or else the focused one. */
  meant(): readonly IssueSummary[];
}

export function createSelection(board: Board): BoardSelection {
  const kept = signal<ReadonlyMap<string, IssueSummary>>(new Map());
  const ids = computed(() => new Set(kept.value.keys()));
  const issues = (): readonly IssueSummary[] =>
    [...kept.peek().values()].map((issue) => findIssue(board.columns.peek(), issue.id) ?? issue);
  return {
    ids,
    toggle(issue) {
      if (issue === null) return;
      const next = new Map(kept.peek());
      if (!next.delete(issue.id)) next.set(issue.id, issue);
      kept.value = next;
    },
    clear() {
      kept.value = new Map();
    },
    issues,
    meant() {
      const here = focusedIssue(board);
      return kept.peek().size > 0 || here === null ? issues() : [here];
    },
  };
}

/** The issue of the card of this board that has the focus. */
export function focusedIssue(board: Board): IssueSummary | null {
  const card = document.activeElement?.closest<HTMLElement>('.board [data-key]');
  if (card?.closest<HTMLElement>('[data-board]')?.dataset.board !== board.project) return null;
  return findIssue(board.columns.peek(), card?.dataset.key ?? '');
}

/** The dragged issue, and where it may go as far as the daemon has said. */
export interface Drag {
  readonly issue: IssueSummary;
  readonly moves: readonly Move[];
}

/** Follows a drag, and asks the daemon where the issue may go while it is on its way. */
export function followDrag(project: string, drag: Signal<Drag | null>): (issue: IssueSummary | null) => void {
  return (issue) => {
    drag.value = issue === null ? null : { issue, moves: [] };
    if (issue === null) return;
    void read<IssueDetail>(projectPath(project, 'issues', issue.id)).then((answer) => {
      if ('value' in answer && drag.peek()?.issue === issue) drag.value = { issue, moves: answer.value.moves };
    });
  };
}
