import type { ComponentChildren, VNode } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';

interface DialogProps {
  /** The stable name of the dialog, independent of its title (`data-part`). */
  readonly part: string;
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
  /** For one that is nothing but its content: the title is for screen readers only. */
  readonly isBare?: boolean;
}

/** A dialog over the page. Esc, and a click outside of it, close it; the focus goes back to where it was. */
export function Dialog({ part, title, onClose, children, isBare = false }: DialogProps): VNode {
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  /** A user who selects text and releases the button outside of the dialog has not clicked there. */
  const isPressedBeside = useRef(false);
  // Before anything is drawn: the next key belongs into the dialog.
  useLayoutEffect(() => {
    const before = document.activeElement;
    const dialog = element.current;
    dialog?.showModal();
    const inside = dialog?.querySelectorAll<HTMLElement>('input, textarea, select, button, [tabindex]') ?? [];
    // Not the button that closes it, but the first thing it is for.
    [...inside].find((each) => each.closest('header') === null)?.focus();
    return () => {
      // While it is open, nothing outside of it can have the focus.
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
        // Not for a dialog that has gone: the component that opened it knows.
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
        // The browser would report only later that it is closed; the next key belongs to the page already.
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
