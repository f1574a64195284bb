import type { ComponentChildren, VNode } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';

interface DialogProps {
  /** The stable name of the dialog, independent of its title (`data-part`). */
  readonly part: string;
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
  /** Shows only the content; the title is for screen readers. */
  readonly isBare?: boolean;
}

/** A dialog over the page. Esc, and a click outside of it, close it; the focus goes back to where it was. */
export function Dialog({ part, title, onClose, children, isBare = false }: DialogProps): VNode {
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  /** A user who selects text and releases the button outside of the dialog has not clicked there. */
  const isPressedOutside = useRef(false);
  // Before anything is drawn, because the next key already belongs to the dialog.
  useLayoutEffect(() => {
    const before = document.activeElement;
    const dialog = element.current;
    dialog?.showModal();
    const inside = dialog?.querySelectorAll<HTMLElement>('input, textarea, select, button, [tabindex]') ?? [];
    // The first control of the content, not the button that closes the dialog.
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
        // Not for a dialog that was removed: the component that opened it knows already.
        if (element.current !== null) onClose();
      }}
      onPointerDown={(event) => {
        isPressedOutside.current = event.target === element.current;
      }}
      onClick={(event) => {
        if (event.target === element.current && isPressedOutside.current) onClose();
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        // The browser reports the close event later, but the next key already belongs to the page.
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
