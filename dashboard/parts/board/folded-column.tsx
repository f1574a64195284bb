import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { plainWords } from '../../data/text/words.ts';

interface FoldedColumnProps {
  readonly state: string;
  readonly canMove: boolean;
  readonly onOpen: () => void;
  readonly onDrop: (state: string) => void;
}

/** A column that is not read until the user opens it. It accepts dropped issues all the same. */
export function FoldedColumn({ state, canMove, onOpen, onDrop }: FoldedColumnProps): VNode {
  const isOver = useSignal(false);
  return (
    <button
      type="button"
      data-part={state}
      class={isOver.value ? 'folded over' : 'folded'}
      aria-label={`Open ${plainWords(state)}`}
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
      <span>{plainWords(state)}</span>
    </button>
  );
}
