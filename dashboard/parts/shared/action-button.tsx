import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { useRef } from 'preact/hooks';
import type { CommandRequest } from '../../../src/client/schema/command.ts';
import { act, isSendingAt, type Spot } from '../../data/connection/actions.ts';

interface ActionButtonProps {
  readonly spot: Spot;
  readonly request: CommandRequest;
  readonly label: string;
  /** A name for screen readers with the subject: "Stop BAT-3". */
  readonly name: string;
  /** What it does, as a tooltip. */
  readonly hint?: string | undefined;
  /** Shown after the first press; the second press sends the command. */
  readonly confirm?: string;
  readonly isMain?: boolean;
  /** The stable name of the action, independent of its label on the page (`data-part`). */
  readonly part?: string;
}

/** A second press sooner than this is a double click, not a confirmation. */
const doubleClickMs = 350;

/** A button that sends a command. `ActionFeedback` at the same spot shows the result. */
export function ActionButton(props: ActionButtonProps): VNode {
  const { spot, request, label, name, hint, confirm, isMain = false, part = request.kind } = props;
  const isArmed = useSignal(false);
  const armedAt = useRef(0);
  const isSending = isSendingAt(spot);
  const press = (event: MouseEvent): void => {
    if (confirm !== undefined && !isArmed.peek()) {
      isArmed.value = true;
      armedAt.current = event.timeStamp;
      return;
    }
    if (confirm !== undefined && event.timeStamp - armedAt.current < doubleClickMs) return;
    isArmed.value = false;
    void act(spot, request);
  };
  return (
    <button
      type="button"
      data-part={part}
      class={[isMain ? 'main' : '', isArmed.value ? 'armed' : ''].join(' ').trim()}
      aria-label={isArmed.value ? `${confirm} ${name}` : name}
      aria-disabled={isSending}
      title={hint}
      onClick={press}
      onBlur={() => {
        isArmed.value = false;
      }}
      onKeyDown={(event) => {
        if (event.key === 'Escape') isArmed.value = false;
        // A key that is held down counts as one press; otherwise it would confirm its own question.
        if (event.repeat && event.key === 'Enter') event.preventDefault();
      }}
    >
      {isArmed.value ? confirm : label}
    </button>
  );
}
