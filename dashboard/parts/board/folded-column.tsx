import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { useEffect } from 'preact/hooks';
import { plainWords } from '../../data/text/words.ts';
import { hint } from '../shared/tooltip.tsx';

interface FoldedColumnProps {
  readonly state: string;
  /** Null while it is not known. */
  readonly count: number | null;
  readonly canMove: boolean;
  /** Called when it is there, so that the caller can count it. */
  readonly onShown: (state: string) => void;
  readonly onOpen: () => void;
  readonly onDrop: (state: string) => void;
}

/** A column that is not read until the user opens it. It accepts dropped issues all the same. */
export function FoldedColumn({ state, count, canMove, onShown, onOpen, onDrop }: FoldedColumnProps): VNode {
  const isOver = useSignal(false);
  useEffect(() => onShown(state), [onShown, state]);
  return (
    <button
      type="button"
      data-part={state}
      class={isOver.value ? 'folded over' : 'folded'}
      aria-label={`Open ${plainWords(state)}${count === null ? '' : `, ${count}`}`}
      {...hint('Open this column. You can also drop issues on it while it is folded')}
      onClick={onOpen}
      onDragOver={(event) => {
        if (!canMove) return;
        event.preventDefault();
        isOver.value = true;
      }}
      onDragLeave={() => {
        isOver.value = false;
      }}
      onDrop={(event) => {
        event.preventDefault();
        isOver.value = false;
        onDrop(state);
      }}
    >
      <span>
        {plainWords(state)} <span class="count">{count?.toLocaleString() ?? ''}</span>
      </span>
    </button>
  );
}
