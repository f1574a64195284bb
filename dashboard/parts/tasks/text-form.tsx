import type { VNode } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { CommandRequest } from '../../../src/client/schema/command.ts';
import { act, isSendingAt, type Spot } from '../../data/connection/actions.ts';
import { draftOf, keepDraft } from '../../data/page/drafts.ts';
import { isHeldEnter, isSendKey, sendKeyWords } from '../../data/page/send-key.ts';

interface TextFormProps {
  readonly spot: Spot;
  /** The name of the draft: unsent text is kept under it. */
  readonly draft: string;
  /** The text to begin with, where there is no draft. */
  readonly start?: string;
  readonly label: string;
  readonly placeholder?: string;
  readonly rows: number;
  readonly maxLength: number;
  /** The text may come from a file, by this name of the field. */
  readonly file?: string;
  readonly send: string;
  /** What to know before sending it. */
  readonly note?: string;
  readonly request: (text: string) => CommandRequest;
  readonly onDone: () => void;
  /** Absent for a form that is always there. */
  readonly onClose?: () => void;
}

/** A text for one command. It is kept as a draft until it is sent. `ActionFeedback` at the same spot shows the result. */
export function TextForm({ spot, draft, start = '', request, onDone, onClose, ...props }: TextFormProps): VNode {
  const field = useRef<HTMLTextAreaElement>(null);
  const isSending = isSendingAt(spot);
  // Before anything is drawn: a form that a person opened gets the next key.
  useLayoutEffect(() => {
    if (onClose !== undefined) field.current?.focus();
  }, []);
  const send = async (): Promise<void> => {
    const text = field.current?.value.trim() ?? '';
    if (text === '') return field.current?.focus();
    const asked = request(text);
    if ((await act(spot, asked)) === null) return;
    keepDraft(draft, null);
    if (field.current !== null) field.current.value = start;
    onClose?.();
    onDone();
  };
  const take = async (file: File | undefined): Promise<void> => {
    if (file === undefined || field.current === null) return;
    field.current.value = await file.text();
    keepDraft(draft, field.current.value);
  };
  return (
    <form
      class="send-back"
      data-part={request('').kind}
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <textarea
        ref={field}
        rows={props.rows}
        maxLength={props.maxLength}
        aria-label={props.label}
        placeholder={props.placeholder}
        defaultValue={draftOf(draft) ?? start}
        readOnly={isSending}
        onInput={({ currentTarget: { value } }) => keepDraft(draft, value === start ? null : value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') (onClose ?? (() => event.currentTarget.blur()))();
          if (isHeldEnter(event)) event.preventDefault();
          if (isSendKey(event)) void send();
        }}
      />
      <div class="actions">
        <button type="submit" class="main" aria-disabled={isSending}>
          {props.send}
        </button>
        {props.file !== undefined && (
          <input
            type="file"
            aria-label={props.file}
            onChange={({ currentTarget: { files } }) => void take(files?.[0])}
          />
        )}
        {onClose !== undefined && (
          <button type="button" class="quiet" onClick={onClose}>
            Cancel
          </button>
        )}
        {props.note !== undefined && (
          <small class="note-line" data-part="price">
            {props.note}
          </small>
        )}
        <small class="send-key">{sendKeyWords} sends.</small>
      </div>
    </form>
  );
}
