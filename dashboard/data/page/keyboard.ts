import { type ReadonlySignal, signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { later } from './clock.ts';
import { startKeepingFocus } from './keep-focus.ts';
import { showNotice } from './notices.ts';

/** A key, or two after each other: `j`, `g n`, `mod+k` (Ctrl, or Cmd on a Mac). */
export interface KeyBinding {
  readonly keys: string;
  /** The action in words, for the list of all keys. */
  readonly label: string;
  /** The part of the page that does the same (`data-part`); its tooltip shows the key. */
  readonly part?: string;
  readonly run: () => void;
}

const bound = signal<readonly (readonly KeyBinding[])[]>([]);

/** All keys of this screen, before those that work everywhere; the latest bindings come first. */
export const keyBindings: ReadonlySignal<readonly (readonly KeyBinding[])[]> = bound;

/** Binds keys while the component is mounted. */
export function useKeys(bindings: readonly KeyBinding[], reach: 'screen' | 'everywhere' = 'screen'): void {
  const latest = useRef(bindings);
  latest.current = bindings;
  useEffect(() => {
    const mine = latest.current.map((binding, index) => ({
      ...binding,
      run: () => latest.current[index]?.run(),
    }));
    // The frame of a screen binds its keys after the screen, and must not take precedence over it.
    bound.value = reach === 'screen' ? [mine, ...bound.peek()] : [...bound.peek(), mine];
    return () => {
      bound.value = bound.peek().filter((each) => each !== mine);
    };
  }, []);
}

/** A second key counts as part of a sequence for this long. */
const sequenceMs = 1_200;

/** A user who was typing when their field was removed has not noticed yet; a pause means that they have. */
const unnoticedMs = 1_000;

/** Returns for each key whether it was meant for a field that has gone. */
function createStrayKeys(): (event: KeyboardEvent) => boolean {
  let field: Element | null = null;
  let at = 0;
  addEventListener('pointerdown', () => {
    field = null;
  });
  return (event) => {
    if (isTyping(event.target)) {
      // Enter, Esc and Tab end the typing: a field that goes then was meant to go.
      const goesOn = event.key.length === 1 || event.key === 'Backspace';
      field = goesOn && event.target instanceof Element ? event.target : null;
      at = event.timeStamp;
      return false;
    }
    const isCommand = event.ctrlKey || event.metaKey;
    if (field === null || field.isConnected || isCommand || event.timeStamp - at > unnoticedMs) {
      field = null;
      return false;
    }
    at = event.timeStamp;
    return true;
  };
}

/** A key that presses a button of the row that has the focus; without such a row it says so. */
export function rowKey(keys: string, label: string, part: string): KeyBinding {
  const run = (): void => {
    const row = document.activeElement?.closest('[data-row-of]') ?? null;
    const button = row?.querySelector<HTMLElement>(`[data-part="${part}"]`) ?? null;
    button?.focus();
    button?.click();
    const text = row === null ? 'Select a row first, with j and k.' : `The selected row has no action "${label}" now.`;
    if (button === null) showNotice({ text, isRefusal: false });
  };
  return { keys, label, part, run };
}

export function startKeyboard(): void {
  startKeepingFocus();
  const isStray = createStrayKeys();
  let first: string | null = null;
  let forget = (): void => {};
  addEventListener('keydown', (event) => {
    if (isStray(event)) return event.preventDefault();
    const key = nameOf(event);
    const hasModifier = key.startsWith('mod+');
    if (event.defaultPrevented || key === '' || (!hasModifier && isTyping(event.target))) return;
    // An open dialog has the keyboard to itself.
    if (!hasModifier && document.querySelector('dialog[open]') !== null) return;
    const keys = first === null ? key : `${first} ${key}`;
    forget();
    first = null;
    const all = bound.peek().flat();
    const bindingOf = (wanted: string): KeyBinding | undefined => all.find((each) => each.keys === wanted);
    const binding = bindingOf(keys) ?? bindingOf(key) ?? bindingOf(key.toLowerCase());
    if (binding !== undefined) {
      event.preventDefault();
      // A key that is held down presses a button once; otherwise it would confirm its own question.
      if (!event.repeat || binding.part === undefined) binding.run();
    } else if (all.some((each) => each.keys.startsWith(`${key} `))) {
      first = key;
      forget = later(sequenceMs, () => {
        first = null;
      });
    }
  });
}

function nameOf(event: KeyboardEvent): string {
  if (event.altKey || event.isComposing) return '';
  // Shift makes another key, Caps Lock does not.
  const letter = event.shiftKey ? event.key.toUpperCase() : event.key.toLowerCase();
  const key = event.key.length === 1 ? letter : event.key;
  return event.ctrlKey || event.metaKey ? `mod+${key}` : key;
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || target.matches('input:not([type=checkbox], [type=radio]), textarea, select');
}

/**
 * Goes to the next or the previous row: an element with `data-row`. Within a group (`data-rows`) it stays there; from
 * nowhere it begins at the first. A row that is not drawn yet is drawn when its neighbour has the focus.
 */
export function moveToRow(step: 1 | -1): void {
  const here = document.activeElement?.closest('[data-row-of], [data-row]') ?? null;
  const current = here?.matches('[data-row]') ? here : (here?.querySelector('[data-row]') ?? null);
  const scope = current?.closest('[data-rows]') ?? document;
  const rows = [...scope.querySelectorAll<HTMLElement>('[data-row]')];
  const index = current === null ? -1 : rows.indexOf(current as HTMLElement);
  const next = index === -1 ? (step === 1 ? 0 : rows.length - 1) : index + step;
  const row = rows[next];
  row?.focus();
  row?.scrollIntoView({ block: 'nearest' });
}
