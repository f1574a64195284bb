import type { VNode } from 'preact';
import { hint } from '../shared/tooltip.tsx';

interface BulkBarProps {
  readonly count: number;
  /** How many of them are not on the screen: a filter leaves them out, or their column is folded. */
  readonly hidden: number;
  readonly label: string;
  readonly canMove: boolean;
  readonly onMove: () => void;
  readonly onHold: () => void;
  readonly onRelease: () => void;
  readonly onClear: () => void;
}

/** The actions for the selected issues. */
export function BulkBar(props: BulkBarProps): VNode | null {
  const { count, hidden, label, canMove, onMove, onHold, onRelease, onClear } = props;
  if (count === 0) return null;
  return (
    <div class="bulk" role="toolbar" aria-label={label}>
      <strong>{count} selected</strong>
      {hidden > 0 && <span>{hidden} of them hidden</span>}
      {canMove && (
        <button
          type="button"
          data-part="issue_move"
          onClick={onMove}
          {...hint('Move the selected issues to another status')}
        >
          Move to…
        </button>
      )}
      <button
        type="button"
        data-part="issue_hold"
        onClick={onHold}
        {...hint('Do not start them again until you release them; running agents continue')}
      >
        Hold
      </button>
      <button
        type="button"
        data-part="issue_release"
        onClick={onRelease}
        {...hint('Lift the hold; each starts when its turn comes')}
      >
        Release
      </button>
      <button type="button" class="quiet" onClick={onClear}>
        Clear selection
      </button>
    </div>
  );
}
