import type { ComponentChildren, VNode } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';

interface DialogProps {
  /** Which dialog it is, whatever its title says (`data-part`). */
  readonly part: string;
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
  /** For one that is nothing but its content: the title is for screen readers only. */
  readonly isBare?: boolean;
}

/** A dialog over the page. Esc, and a click beside it, close it; the focus goes back to where it was. */
export function Dialog({ part, title, onClose, children, isBare = false }: DialogProps): VNode {
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  /** Who marks a text and lets go beside the dialog has not pressed there. */
  const isPressedBeside = useRef(false);
  // Before anything is drawn: what is typed next belongs into it.
  useLayoutEffect(() => {
    const before = document.activeElement;
    const dialog = element.current;
    dialog?.showModal();
    const inside = dialog?.querySelectorAll<HTMLElement>('input, textarea, select, button, [tabindex]') ?? [];
    // Not the button that closes it, but the first thing it is for.
    [...inside].find((each) => each.closest('header') === null)?.focus();
    return () => {
      // As long as it is open, nothing beside it can have the focus.
      dialog?.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={element}
      class={isBare ? 'dialog bare' : 'dialog'}
      data-part={part}
      aria-labelledby={id}
      onClose={() => {
        // Not for one that has gone: who opened it knows.
        if (element.current !== null) onClose();
      }}
      onPointerDown={(event) => {
        isPressedBeside.current = event.target === element.current;
      }}
      onClick={(event) => {
        if (event.target === element.current && isPressedBeside.current) onClose();
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        // The browser would tell only later that it is closed; what is pressed next belongs to the page already.
        event.preventDefault();
        onClose();
      }}
    >
      <div class="dialog-body">
        <header class={isBare ? 'unseen' : ''}>
          <h2 id={id}>{title}</h2>
          <button type="button" class="quiet" onClick={onClose}>
            Close
          </button>
        </header>
        {children}
      </div>
    </dialog>
  );
}
