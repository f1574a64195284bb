import { useSignal } from '@preact/signals';
import type { RefObject, VNode } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import type { IssueSummary } from '../../../src/client/schema/issue.ts';
import type { Project } from '../../../src/client/schema/system.ts';
import type { Board } from '../../data/board/board.ts';
import { type BoardColumn as BoardColumnFacts, columnOf, findIssue } from '../../data/board/board-columns.ts';
import { createSelection, type Drag, focusedIssue, followDrag } from '../../data/board/board-selection.ts';
import { actOnIssues, moveIssues } from '../../data/board/move-issues.ts';
import { activityOf } from '../../data/issue/activity.ts';
import { isNarrow } from '../../data/page/narrow.ts';
import { linkTo, place, queryWord, setQuery } from '../../data/page/router.ts';
import { plainWords } from '../../data/text/words.ts';
import { EmptyLine } from '../shared/empty-line.tsx';
import { ProblemLine } from '../shared/problem-line.tsx';
import { Text } from '../shared/text.tsx';
import { BoardColumn } from './board-column.tsx';
import { BulkBar } from './bulk-bar.tsx';
import { FoldedColumn } from './folded-column.tsx';
import { MoveDialog } from './move-dialog.tsx';
import { NewIssueDialog } from './new-issue-dialog.tsx';

/** The actions of the keys on a board. */
export interface BoardHandle {
  readonly canChange: boolean;
  hasSelection(): boolean;
  openNew(): void;
  openMove(): void;
  toggleFocused(): void;
  clearSelection(): void;
}

interface ProjectBoardProps {
  readonly project: Project;
  readonly board: Board;
  /** If there are several boards, each has its name above it. */
  readonly isOne: boolean;
  /** Where the board puts its handle. */
  readonly handles: Map<string, BoardHandle>;
}

/** The board of one project: its columns, and the actions for their issues. */
export function ProjectBoard({ project, board, isOne, handles }: ProjectBoardProps): VNode {
  const { name, has_board: canMove } = project;
  const selection = useMemo(() => createSelection(board), [board]);
  const isNew = useSignal(false);
  const toMove = useSignal<readonly IssueSummary[]>([]);
  const dragged = useSignal<Drag | null>(null);
  const follow = useMemo(() => followDrag(name, dragged), [name, dragged]);
  const asNow = (issue: IssueSummary): IssueSummary => findIssue(board.columns.value, issue.id) ?? issue;

  const openMove = (): void => {
    if (canMove) toMove.value = selection.meant();
  };
  const openNew = (): void => {
    if (canMove) isNew.value = true;
  };
  const move = (issues: readonly IssueSummary[], to: string): void => {
    selection.clear();
    const elsewhere = issues.map(asNow).filter(({ state }) => state !== to);
    if (elsewhere.length > 0) void moveIssues(board, { project: name, issues: elsewhere }, to);
  };
  const drop = (to: string): void => {
    const issue = dragged.peek()?.issue;
    if (issue !== undefined) move(selection.ids.peek().has(issue.id) ? selection.issues() : [issue], to);
  };
  const actOnAll = (kind: 'issue_hold' | 'issue_release'): void => {
    void actOnIssues({ project: name, issues: selection.issues() }, kind);
    selection.clear();
  };
  handles.set(name, {
    canChange: canMove,
    hasSelection: () => selection.ids.peek().size > 0,
    openNew,
    openMove,
    toggleFocused: () => selection.toggle(focusedIssue(board)),
    clearSelection: selection.clear,
  });
  useEffect(() => () => void handles.delete(name), [handles, name]);

  const open = new Set(queryWord('open').split(',').filter(Boolean));
  const setOpen = (state: string, isOpen: boolean): void => {
    const next = isOpen ? [...open, state] : [...open].filter((each) => each !== state);
    setQuery({ open: next.join(',') });
  };
  const finished = new Set(project.states.filter(({ kind }) => kind === 'terminal').map((each) => each.name));
  // As work goes: what is finished stands at the end.
  const inOrder = project.states.toSorted((a, b) => Number(finished.has(a.name)) - Number(finished.has(b.name)));
  const columns = inOrder.map(({ name: state }) => {
    const column = columnOf(board.columns.value, state);
    const isFolded = finished.has(state) && !open.has(state);
    return { state, column, isFolded, issues: isFolded ? [] : filtered(name, column.issues) };
  });
  // If there are several boards, each is as high as its longest column.
  const rows = Math.max(1, ...columns.map(({ issues }) => issues.length));
  const box = useRef<HTMLDivElement>(null);
  useFirstFilled(box, columns);
  const drawn = new Set(columns.flatMap(({ issues }) => issues.map(({ id }) => id)));
  return (
    <section
      class="project-board"
      data-board={name}
      aria-label={isOne ? undefined : `Board of ${name}`}
      aria-busy={board.isAsking.value}
    >
      {!isOne && <BoardHead project={name} onNew={canMove ? openNew : null} />}
      {!canMove && (
        <p class="read-only">
          These issues are in <Text text={project.tracker} />. Baton shows a copy; move and edit them there.
        </p>
      )}
      {board.problem.value !== null && <ProblemLine problem={board.problem.value} />}
      <BulkBar
        count={selection.ids.value.size}
        hidden={[...selection.ids.value].filter((id) => !drawn.has(id)).length}
        label={isOne ? 'Selected issues' : `Selected issues of ${name}`}
        canMove={canMove}
        onMove={openMove}
        onHold={() => actOnAll('issue_hold')}
        onRelease={() => actOnAll('issue_release')}
        onClear={selection.clear}
      />
      {canMove && isBare(columns) && (
        <EmptyLine>
          No issues yet. Press <kbd>n</kbd> or “New issue” to file the first one; an agent starts on it when its turn
          comes.
        </EmptyLine>
      )}
      <div class="board" ref={box} style={isOne ? undefined : { '--rows': String(rows) }}>
        {columns.map(({ state, column, isFolded, issues }) =>
          isFolded ? (
            <FoldedColumn
              key={state}
              state={state}
              count={column.total}
              canMove={canMove}
              onShown={board.readTotal}
              onOpen={() => setOpen(state, true)}
              onDrop={drop}
            />
          ) : (
            <BoardColumn
              key={state}
              project={name}
              state={state}
              label={isOne ? plainWords(state) : `${plainWords(state)} of ${name}`}
              column={column}
              issues={issues}
              selected={selection.ids.value}
              finished={finished}
              canMove={canMove}
              move={dragged.value?.moves.find(({ to }) => to === state) ?? null}
              onSelect={selection.toggle}
              onDrag={follow}
              onDrop={drop}
              onMore={board.readMore}
              onFold={open.has(state) ? () => setOpen(state, false) : null}
            />
          ),
        )}
      </div>
      {isNew.value && (
        <NewIssueDialog
          project={name}
          onClose={() => {
            isNew.value = false;
          }}
        />
      )}
      {toMove.value.length > 0 && (
        <MoveDialog
          project={name}
          issues={toMove.value.map(asNow)}
          states={project.states.map((each) => each.name)}
          onMove={(to) => move(toMove.peek(), to)}
          onClose={() => {
            toMove.value = [];
          }}
        />
      )}
    </section>
  );
}

interface ShownColumn {
  readonly column: BoardColumnFacts;
  readonly issues: readonly IssueSummary[];
  readonly isFolded: boolean;
}

/** The board has no issue at all, and that is not the doing of a filter. */
function isBare(columns: readonly ShownColumn[]): boolean {
  return columns.every(({ column: { total } }) => total === 0);
}

/** A phone shows one column: the board opens there on the first that has something. Later the person scrolls. */
function useFirstFilled(box: RefObject<HTMLDivElement | null>, columns: readonly ShownColumn[]): void {
  const isDone = useRef(false);
  const open = columns.filter(({ isFolded }) => !isFolded);
  useLayoutEffect(() => {
    if (isDone.current || !isNarrow.peek()) return;
    const first = open.findIndex(({ issues }) => issues.length > 0);
    // The columns before it may still be on their way.
    if (!open.slice(0, first === -1 ? open.length : first).every(({ column }) => column.isRead)) return;
    isDone.current = true;
    const element = box.current?.querySelectorAll<HTMLElement>('.column')[first];
    if (element !== undefined && box.current !== null)
      box.current.scrollLeft = element.offsetLeft - box.current.offsetLeft;
  });
}

/** Applies the filters that the daemon does not have. */
function filtered(project: string, issues: readonly IssueSummary[]): readonly IssueSummary[] {
  const priority = queryWord('priority');
  const activity = queryWord('activity');
  if (priority === '' && activity === '') return issues;
  return issues.filter(
    (issue) =>
      (priority === '' || String(issue.priority ?? 'none') === priority) &&
      (activity === '' || activityOf(project, issue.id) === activity),
  );
}

interface BoardHeadProps {
  readonly project: string;
  /** Null if the board is read-only. */
  readonly onNew: (() => void) | null;
}

/** The name of the project above its board; it links to this board alone, with the same filters. */
function BoardHead({ project, onNew }: BoardHeadProps): VNode {
  return (
    <header class="board-head">
      <h2>
        <a href={linkTo('/board', { ...Object.fromEntries(place.value.query), project })}>
          <Text text={project} />
        </a>
      </h2>
      {onNew !== null && (
        <button type="button" class="main" data-part="issue_file" onClick={onNew}>
          <Text text={`New issue in ${project}`} />
        </button>
      )}
    </header>
  );
}
