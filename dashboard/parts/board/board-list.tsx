import type { VNode } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { Project } from '../../../src/client/schema/system.ts';
import { type Board, openBoard } from '../../data/board/board.ts';
import { useKeys } from '../../data/page/keyboard.ts';
import { queryWord, setQuery } from '../../data/page/router.ts';
import { BoardToolbar } from './board-toolbar.tsx';
import { type BoardHandle, ProjectBoard } from './project-board.tsx';

/** The boards of the projects that are shown, under one set of filters. Keys act on the board that has the focus. */
export function BoardList({ projects }: { readonly projects: readonly Project[] }): VNode {
  const q = queryWord('q');
  const label = queryWord('label');
  const boards = useMemo(() => projects.map((each) => openBoard(each.name, { q, label }, finishedStates(each))), []);
  useEffect(() => () => closeAll(boards), [boards]);
  useEffect(() => {
    for (const board of boards) board.setFilters({ q, label });
  }, [boards, q, label]);

  const handles = useRef(new Map<string, BoardHandle>()).current;
  const focused = (): BoardHandle | undefined =>
    handles.get(document.activeElement?.closest<HTMLElement>('[data-board]')?.dataset.board ?? '');
  const all = (): readonly BoardHandle[] => [...handles.values()];
  const openNew = (): void => {
    const here = focused();
    const board = here?.canChange === true ? here : all().find(({ canChange }) => canChange);
    board?.openNew();
  };
  useKeys([
    { keys: 'n', label: 'new issue', part: 'issue_file', run: openNew },
    {
      keys: 'm',
      label: 'move to…',
      part: 'issue_move',
      run: () => (focused() ?? all().find((each) => each.hasSelection()))?.openMove(),
    },
    { keys: 'x', label: 'select the issue', run: () => focused()?.toggleFocused() },
    { keys: 'h', label: 'column to the left', run: () => moveToColumn(-1) },
    { keys: 'l', label: 'column to the right', run: () => moveToColumn(1) },
    {
      keys: 'Escape',
      label: 'clear the selection',
      run: () => {
        for (const each of all()) each.clearSelection();
      },
    },
  ]);
  // The address may ask to open the form for a new issue; that happens once.
  const fileIn = queryWord('new');
  useEffect(() => {
    if (fileIn === '') return;
    handles.get(fileIn)?.openNew();
    setQuery({ new: null });
  }, [fileIn, handles]);

  const isOne = projects.length === 1;
  return (
    <>
      <BoardToolbar
        labels={labelsIn(boards)}
        isAsking={boards.some(({ isAsking }) => isAsking.value)}
        onNew={isOne && projects[0]?.has_board === true ? openNew : null}
      />
      {projects.map((project, index) => {
        const board = boards[index];
        if (board === undefined) return null;
        return <ProjectBoard key={project.name} project={project} board={board} isOne={isOne} handles={handles} />;
      })}
    </>
  );
}

function finishedStates({ states }: Project): ReadonlySet<string> {
  return new Set(states.filter(({ kind }) => kind === 'terminal').map(({ name }) => name));
}

function closeAll(boards: readonly Board[]): void {
  for (const board of boards) board.close();
}

const mostLabels = 200;

function labelsIn(boards: readonly Board[]): readonly string[] {
  const labels = new Set<string>();
  for (const board of boards)
    for (const { issues } of board.columns.value.values())
      for (const issue of issues) for (const label of issue.labels) if (labels.size < mostLabels) labels.add(label);
  return [...labels].sort();
}

/** Moves to the first visible card of the next column that has one; after the last column the next board follows. */
function moveToColumn(step: 1 | -1): void {
  const columns = [...document.querySelectorAll<HTMLElement>('.board .column')];
  const here = columns.findIndex((column) => column.contains(document.activeElement));
  const order = step === 1 ? columns.slice(here + 1) : columns.slice(0, Math.max(0, here)).reverse();
  for (const column of order) {
    const stop = column.querySelector<HTMLElement>('[data-row][tabindex="0"]');
    if (stop === null) continue;
    stop.focus();
    column.scrollIntoView({ inline: 'nearest', block: 'nearest' });
    return;
  }
}
