import type { VNode } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { IssueDetail, IssueSummary } from '../../../src/client/schema/issue.ts';
import { projectPath } from '../../data/connection/api.ts';
import { useResource } from '../../data/connection/resource.ts';
import { plainWords } from '../../data/text/words.ts';
import { Dialog } from '../shared/dialog.tsx';
import { Text } from '../shared/text.tsx';

interface MoveDialogProps {
  readonly project: string;
  readonly issues: readonly IssueSummary[];
  readonly states: readonly string[];
  readonly onMove: (to: string) => void;
  readonly onClose: () => void;
}

/**
 * Where an issue may go, with the reason where it may not. A number chooses. The list does not change while it is open:
 * a number means what the person has read, even if the issue changes meanwhile.
 */
export function MoveDialog({ project, issues, states, onMove, onClose }: MoveDialogProps): VNode {
  const { first, isOne, offered, title } = useMemo(() => listFor(issues, states), []);
  const path = isOne && first !== null ? projectPath(project, 'issues', first.id) : null;
  const { resource } = useResource<IssueDetail>(
    path,
    (event) => event.name === 'issue_changed' && event.data.issue_id === first?.id,
  );
  const moves = new Map(resource.value.value?.moves.map((move) => [move.to, move]));
  // Of the two sources, the one with a changed status is newer.
  const isAt = [resource.value.value?.state, issues[0]?.state].find(
    (state) => state !== undefined && state !== first?.state,
  );
  const hasMoved = isOne && isAt !== undefined;
  const whyNot = (to: string): string | null => {
    if (hasMoved && to === isAt) return 'it is already there';
    const move = moves.get(to);
    return move === undefined || move.is_allowed ? null : (move.why_not ?? 'not allowed');
  };
  const choose = (to: string): void => {
    if (whyNot(to) !== null) return;
    onMove(to);
    onClose();
  };
  const list = useRef<HTMLUListElement>(null);
  const isKnown = resource.value.value !== null;
  // The dialog opens before the moves are known, with the focus on the first state.
  useEffect(() => {
    if (list.current?.contains(document.activeElement) && document.activeElement?.ariaDisabled === 'true')
      list.current.querySelector<HTMLElement>('button[aria-disabled="false"]')?.focus();
  }, [isKnown]);
  return (
    <Dialog part="issue_move" title={title} onClose={onClose}>
      {isOne && first !== null && (
        <p class="quiet-text">
          <Text text={first.title} />
        </p>
      )}
      {hasMoved && <p role="status">The issue has moved: it is now in {plainWords(isAt)}.</p>}
      <ul
        ref={list}
        class="choices"
        onKeyDown={({ key }) => {
          const to = offered[Number(key) - 1];
          if (/^[1-9]$/u.test(key) && to !== undefined) choose(to);
        }}
      >
        {offered.map((state, index) => {
          const why = whyNot(state);
          return (
            <li key={state}>
              <button type="button" class="quiet" aria-disabled={why !== null} onClick={() => choose(state)}>
                <kbd>{index + 1}</kbd> {plainWords(state)}
              </button>
              {why !== null && (
                <small>
                  <Text text={why} />
                </small>
              )}
            </li>
          );
        })}
      </ul>
    </Dialog>
  );
}

interface MoveList {
  readonly first: IssueSummary | null;
  readonly isOne: boolean;
  readonly offered: readonly string[];
  readonly title: string;
}

function listFor(issues: readonly IssueSummary[], states: readonly string[]): MoveList {
  const [first = null] = issues;
  const isOne = issues.length === 1 && first !== null;
  return {
    first,
    isOne,
    offered: states.filter((state) => !isOne || state !== first.state),
    title: isOne ? `Move ${first.identifier} to` : `Move ${issues.length} issues to`,
  };
}
