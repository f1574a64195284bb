import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import type { CommandRequest } from '../../../src/client/schema/command.ts';
import { act, isSendingAt, type Spot } from '../../data/connection/actions.ts';
import { later } from '../../data/page/clock.ts';
import { hint as hintOf } from './tooltip.tsx';

interface ActionButtonProps {
  readonly spot: Spot;
  readonly request: CommandRequest;
  readonly label: string;
  /** A name for screen readers with the subject: "Stop BAT-3". */
  readonly name: string;
  /** What it does, as a tooltip. */
  readonly hint?: string | undefined;
  /** Asked after the first press, below the button; the second press sends the command. */
  readonly confirm?: string;
  readonly isMain?: boolean;
  /** The stable name of the action, independent of its label on the page (`data-part`). */
  readonly part?: string;
  /** Called when the command was carried out. */
  readonly onDone?: () => void;
}

/** A second press sooner than this is a double click, not a confirmation. */
const doubleClickMs = 350;
/** A question that no one confirms for this long is taken back; `forms.css` shows the time that is left. */
const armedMs = 5_000;
const edgePx = 8;
const pressAgain = 'Press again.';

/**
 * A button that sends a command. `ActionFeedback` at the same spot shows the result. A button that asks first keeps its
 * size, so that nothing moves under the pointer.
 */
export function ActionButton(props: ActionButtonProps): VNode {
  const { spot, request, label, name, hint, confirm, isMain = false, part = request.kind, onDone } = props;
  const isArmed = useSignal(false);
  const armedAt = useRef(0);
  const isSending = isSendingAt(spot);
  const disarm = (): void => {
    isArmed.value = false;
  };
  useEffect(() => (isArmed.value ? later(armedMs, disarm) : undefined), [isArmed.value]);
  const press = (event: MouseEvent): void => {
    if (confirm !== undefined && !isArmed.peek()) {
      isArmed.value = true;
      armedAt.current = event.timeStamp;
      return;
    }
    if (confirm !== undefined && event.timeStamp - armedAt.current < doubleClickMs) return;
    disarm();
    void act(spot, request).then((done) => {
      if (done !== null) onDone?.();
    });
  };
  return (
    <button
      type="button"
      data-part={part}
      class={[isMain ? 'main' : '', isArmed.value ? 'armed' : ''].join(' ').trim()}
      aria-label={isArmed.value ? `${label}? ${confirm} ${pressAgain} ${name}` : name}
      aria-disabled={isSending}
      {...hintOf(isArmed.value ? undefined : hint)}
      onClick={press}
      onBlur={disarm}
      onKeyDown={(event) => {
        if (event.key === 'Escape') disarm();
        // A key that is held down counts as one press; otherwise it would confirm its own question.
        if (event.repeat && event.key === 'Enter') event.preventDefault();
      }}
    >
      {confirm === undefined ? (
        label
      ) : (
        <span class="confirms">
          <span>{label}</span>
          <span>{label}?</span>
        </span>
      )}{' '}
      {isArmed.value && confirm !== undefined && <Confirmation text={confirm} />}
    </button>
  );
}

/** The question of a pressed button: below it, over the content, inside the window. */
function Confirmation({ text }: { readonly text: string }): VNode {
  const bubble = useRef<HTMLSpanElement>(null);
  useLayoutEffect(() => {
    const { left = 0, right = 0 } = bubble.current?.getBoundingClientRect() ?? {};
    const beyond = Math.max(0, right + edgePx - document.documentElement.clientWidth);
    const shift = left - beyond < edgePx ? edgePx - left : -beyond;
    bubble.current?.style.setProperty('--shift', `${shift}px`);
  }, []);
  return (
    <span class="confirmation" ref={bubble}>
      <strong>{text}</strong> {pressAgain}
    </span>
  );
}
