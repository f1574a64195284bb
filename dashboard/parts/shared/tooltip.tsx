import { signal, useSignalEffect } from '@preact/signals';
import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { later, now } from '../../data/page/clock.ts';
import { keyBindings } from '../../data/page/keyboard.ts';

/**
 * The tooltip: one for the whole page. An element that acts names its effect with `hint()`. What must hold:
 *
 * - It opens under a resting pointer and at the keyboard focus, and not for a touch.
 * - It stays while the pointer is on it. Esc, a press, and the end of its element close it.
 * - A screen reader hears the same words as the description of the element.
 */
export function hint(text: string | undefined): Record<string, string | undefined> {
  return { 'data-hint': text, 'aria-description': text };
}

const shown = signal<HTMLElement | null>(null);

/** After the first one, the others open at once: the person is reading them. */
const restMs = 450;
/** Long enough to bring the pointer from the element onto the tooltip. */
const leaveMs = 120;
const edgePx = 8;
const gapPx = 6;

export function Tooltip(): VNode {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => watchHints(box), []);
  useSignalEffect(() => {
    const element = box.current;
    const target = shown.value;
    if (element === null) return;
    if (target === null) {
      element.hidePopover();
      return;
    }
    element.querySelector('span')?.replaceChildren(target.dataset.hint ?? '');
    element.querySelector('kbd')?.replaceChildren(keyFor(target));
    // In the top layer, so that it is above dialogs too.
    element.showPopover();
    placeAt(element, target);
  });
  // Nothing reports that an element has gone.
  useSignalEffect(() => {
    if (now.value > 0 && shown.peek()?.isConnected === false) shown.value = null;
  });
  return (
    <div class="tooltip" data-part="tooltip" role="tooltip" popover="manual" ref={box}>
      <span />
      <kbd />
    </div>
  );
}

function watchHints(box: { readonly current: HTMLElement | null }): () => void {
  let cancel = (): void => {};
  const aim = (target: HTMLElement | null): void => {
    cancel();
    if (target === shown.peek()) return;
    const delayMs = target === null ? leaveMs : shown.peek() === null ? restMs : 0;
    cancel = later(delayMs, () => {
      // A button that asks for confirmation has no hint meanwhile.
      shown.value = target?.isConnected === true && hintedAt(target) === target ? target : null;
    });
  };
  const close = (): void => {
    cancel();
    shown.value = null;
  };
  const ended = new AbortController();
  const on = <E extends Event>(name: string, listener: (event: E) => void): void =>
    document.addEventListener(name, listener as EventListener, { signal: ended.signal, capture: true });
  on<PointerEvent>('pointerover', ({ target, pointerType }) => {
    if (pointerType === 'touch') return;
    if (target instanceof Node && box.current?.contains(target)) cancel();
    else aim(hintedAt(target));
  });
  on<PointerEvent>('pointerdown', close);
  on<FocusEvent>('focusin', ({ target }) => {
    const hinted = hintedAt(target);
    aim(hinted?.matches(':focus-visible') === true ? hinted : null);
  });
  on<FocusEvent>('focusout', () => aim(null));
  on<KeyboardEvent>('keydown', ({ key }) => {
    if (key === 'Escape' || key === 'Enter' || key === ' ') close();
  });
  on('scroll', close);
  return () => ended.abort();
}

function hintedAt(target: EventTarget | null): HTMLElement | null {
  return target instanceof Element ? target.closest<HTMLElement>('[data-hint]') : null;
}

/** The key that does the same on this screen; a binding names the part that it presses. */
function keyFor({ dataset: { part } }: HTMLElement): string {
  const all = keyBindings.peek().flat();
  return (part === undefined ? undefined : all.find((binding) => binding.part === part))?.keys ?? '';
}

/** Below its element, or above it where there is no space; never beyond the edge of the window. */
function placeAt(box: HTMLElement, target: HTMLElement): void {
  const from = target.getBoundingClientRect();
  const { width, height } = box.getBoundingClientRect();
  const { clientWidth, clientHeight } = document.documentElement;
  const left = Math.min(from.left + (from.width - width) / 2, clientWidth - width - edgePx);
  const below = from.bottom + gapPx;
  const top = below + height + edgePx <= clientHeight ? below : from.top - gapPx - height;
  box.style.left = `${Math.max(edgePx, left)}px`;
  box.style.top = `${Math.max(edgePx, top)}px`;
}
