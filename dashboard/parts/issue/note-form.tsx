import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { draftOf, keepDraft } from '../../data/page/drafts.ts';
import type { IssueAction } from '../../data/text/command-words.ts';

interface NoteFormProps {
  readonly action: IssueAction;
  /** Under which the text is kept while it is not sent. */
  readonly draft: string;
  /** Whether the action can be asked for as the issue stands now. */
  readonly isOffered: boolean;
  /** The row that it was opened in has gone. */
  readonly isGone: boolean;
  /** The other actions that accept this text now. */
  readonly others: readonly IssueAction[];
  readonly onTurn: (action: IssueAction) => void;
  /** Called when the field is there, so that the caller can focus it. */
  readonly onShown: (field: HTMLTextAreaElement) => void;
  /** Whether the daemon accepted it; a refused text stays in the field. */
  readonly onSend: (text: string) => Promise<boolean>;
  readonly onClose: () => void;
}

/**
 * A short note, typed in place. Enter sends, Shift and Enter begin a new line, Esc closes. It stays when its action is
 * not possible any more, and says so: only the person who typed a text discards it.
 */
export function NoteForm({
  action,
  draft,
  isOffered,
  isGone,
  others,
  onTurn,
  onShown,
  ...props
}: NoteFormProps): VNode {
  const field = useRef<HTMLTextAreaElement>(null);
  const isSending = useSignal(false);
  const start = useMemo(() => draftOf(draft) ?? '', []);
  const { label, send, isOptional } = action.asks ?? { label: '', send: '', isOptional: false };
  // Before anything is drawn: the next key belongs into the field.
  useLayoutEffect(() => {
    if (field.current !== null) onShown(field.current);
  }, []);
  const submit = async (): Promise<void> => {
    if (!isOffered || isSending.peek()) return;
    const text = field.current?.value.trim() ?? '';
    if (text === '' && !isOptional) return field.current?.focus();
    isSending.value = true;
    const isTaken = await props.onSend(text);
    isSending.value = false;
    if (!isTaken) return;
    keepDraft(draft, null);
    props.onClose();
  };
  return (
    <form
      class="note"
      data-part={action.name}
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <textarea
        ref={field}
        rows={1}
        aria-label={label}
        placeholder={isOptional ? `${label} (may be left empty)` : label}
        defaultValue={start}
        readOnly={isSending.value}
        onInput={({ currentTarget: { value } }) => keepDraft(draft, value === '' ? null : value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') props.onClose();
          if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
          event.preventDefault();
          // The Enter that opened it may be held down still.
          if (!event.repeat) void submit();
        }}
      />
      {isOffered && (
        <button type="submit" class="main" aria-disabled={isSending.value}>
          {send}
        </button>
      )}
      <button type="button" class="quiet" onClick={props.onClose}>
        Cancel
      </button>
      <output class="note-state">
        {!isOffered && (
          <>
            “{action.label.replace('…', '')}” is not possible any more. Your words are kept.{' '}
            {others.length === 0 ? 'There is nothing else to send them as at the moment.' : 'Possible now: '}
            {others.map((other) => (
              <button
                key={other.name}
                type="button"
                data-part={other.name}
                onClick={() => {
                  onTurn(other);
                  field.current?.focus();
                }}
              >
                {other.label}
              </button>
            ))}
          </>
        )}
        {isOffered && !isGone && 'Enter sends; Shift and Enter begin a new line.'}
        {isOffered && isGone && 'What this was begun for is over; it is sent to the issue as it stands now.'}
      </output>
    </form>
  );
}
