import type { VNode } from 'preact';
import { linkTo, place } from '../../data/page/router.ts';
import { Text } from '../shared/text.tsx';

interface BoardHeadProps {
  readonly project: string;
  /** Null where the board is another's. */
  readonly onNew: (() => void) | null;
}

/** Whose board it is, where several are shown, and the way to this one alone with the same filters. */
export function BoardHead({ project, onNew }: BoardHeadProps): VNode {
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
