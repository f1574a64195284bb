import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { later } from '../../data/page/clock.ts';
import { queryWord, setQuery } from '../../data/page/router.ts';

interface TypedFilterProps {
  /** The word of the address. */
  readonly name: string;
  readonly label: string;
  readonly placeholder: string;
  readonly type?: 'search' | 'text';
  /** The id of a list of suggestions. */
  readonly list?: string;
  /** Enter, with Shift or without, when the address has the typed text; before that, Enter only ends the pause. */
  readonly onEnter?: (isBackwards: boolean) => void;
}

/** A pause in typing; every letter would be an address of its own. */
const pauseMs = 200;

/** A field that does not change under the person while they type; the address follows a moment later. */
export function TypedFilter({ name, label, placeholder, type = 'search', list, onEnter }: TypedFilterProps): VNode {
  const cancel = useRef(() => {});
  const field = useRef<HTMLInputElement>(null);
  const wanted = queryWord(name);
  // Back, or a cleared filter; never while the user types here.
  if (field.current !== null && document.activeElement !== field.current) field.current.value = wanted;
  useEffect(() => () => cancel.current(), []);
  return (
    <input
      ref={field}
      type={type}
      aria-label={label}
      placeholder={placeholder}
      defaultValue={wanted}
      autocomplete="off"
      {...(list === undefined ? {} : { list })}
      onInput={({ currentTarget }) => {
        cancel.current();
        const { value } = currentTarget;
        cancel.current = later(pauseMs, () => setQuery({ [name]: value.trim() }));
      }}
      onKeyDown={(event) => {
        if (event.key === 'Escape') event.currentTarget.blur();
        if (event.key !== 'Enter' || onEnter === undefined) return;
        event.preventDefault();
        const typed = event.currentTarget.value.trim();
        if (typed === queryWord(name)) return onEnter(event.shiftKey);
        cancel.current();
        setQuery({ [name]: typed });
      }}
    />
  );
}
