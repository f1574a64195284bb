import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { later } from '../../data/page/clock.ts';
import { queryWord, setQuery } from '../../data/page/router.ts';

interface TypedFilterProps {
  /** The name of the query parameter. */
  readonly name: string;
  readonly label: string;
  readonly placeholder: string;
  readonly type?: 'search' | 'text';
  /** The id of a list of suggestions. */
  readonly list?: string;
  /** Called on Enter (backwards with Shift) if the address already has the typed text; otherwise Enter only ends the pause. */
  readonly onEnter?: (isBackwards: boolean) => void;
}

/** The address changes after this pause in typing, not with every letter. */
const pauseMs = 200;

/** A field that never changes while the user types in it; the address follows after a pause. */
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
