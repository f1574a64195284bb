import type { VNode } from 'preact';
import type { Project } from '../../src/client/schema/system.ts';
import { apiRoot } from '../data/connection/api.ts';
import { useResource } from '../data/connection/resource.ts';
import { queryWord } from '../data/page/router.ts';
import { BoardList } from '../parts/board/board-list.tsx';
import { EmptyLine } from '../parts/shared/empty-line.tsx';
import { ProblemLine } from '../parts/shared/problem-line.tsx';

/** The issues by status. Baton's own board can be changed here; the board of another tracker is read-only. */
export function BoardScreen(): VNode {
  const { resource } = useResource<{ readonly projects: readonly Project[] }>(`${apiRoot}/projects`);
  const { value, problem } = resource.value;
  const all = value?.projects ?? [];
  const chosen = all.filter(({ name }) => name === queryWord('project'));
  const shown = chosen.length > 0 ? chosen : all;
  return (
    <div class={shown.length > 1 ? 'screen board-screen several' : 'screen board-screen'}>
      <h1 tabIndex={-1} class="unseen">
        Board
      </h1>
      {problem !== null && <ProblemLine problem={problem} />}
      {value === null && problem === null && <EmptyLine isAsking>Loading the boards.</EmptyLine>}
      {value?.projects.length === 0 && <EmptyLine>Baton has no project.</EmptyLine>}
      {shown.length > 0 && <BoardList key={JSON.stringify(shown.map(({ name }) => name))} projects={shown} />}
    </div>
  );
}
