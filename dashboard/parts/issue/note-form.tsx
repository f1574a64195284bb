import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { draftOf, keepDraft } from '../../data/page/drafts.ts';
import { isHeldEnter, isSendKey, sendKeyWords } from '../../data/page/send-key.ts';
import type { IssueAction } from '../../data/text/command-words.ts';

interface NoteFormProps {
  readonly action: IssueAction;
  /** The name of the draft: unsent text is kept under it. */
  readonly draft: string;
  /** Those to choose among; empty where the action needs no choice. */
  readonly agents: readonly string[];
  /** Whether the action is possible now. */
  readonly isOffered: boolean;
  /** The row in which it was opened has gone. */
  readonly isGone: boolean;
  /** The other actions that accept this text now. */
  readonly others: readonly IssueAction[];
  readonly onTurn: (action: IssueAction) => void;
  /** Called when the field is there, so that the caller can focus it. */
  readonly onShown: (field: HTMLTextAreaElement) => void;
  /** Whether the daemon accepted it; a refused text stays in the field. */
  readonly onSend: (text: string, agent?: string) => Promise<boolean>;
  /** Absent for a form that is always there: `onSent` then says that its text was taken. */
  readonly onClose?: () => void;
  readonly onSent?: () => void;
}

/**
 * A note, typed in place. Ctrl+Enter sends, Enter begins a new line, Esc closes. It stays when its action is not
 * possible any more, and says so: only the person who typed a text discards it.
 */
export function NoteForm({
  action,
  draft,
  agents,
  isOffered,
  isGone,
  others,
  onTurn,
  onShown,
  ...props
}: NoteFormProps): VNode {
  const field = useRef<HTMLTextAreaElement>(null);
  const choice = useRef<HTMLSelectElement>(null);
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
    const isTaken = await props.onSend(text, choice.current?.value);
    isSending.value = false;
    if (!isTaken) return;
    keepDraft(draft, null);
    props.onSent?.();
    props.onClose?.();
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
        rows={2}
        aria-label={label}
        placeholder={isOptional ? `${label} (optional)` : label}
        defaultValue={start}
        readOnly={isSending.value}
        onInput={({ currentTarget: { value } }) => keepDraft(draft, value === '' ? null : value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') (props.onClose ?? (() => event.currentTarget.blur()))();
          if (isHeldEnter(event)) event.preventDefault();
          if (isSendKey(event)) void submit();
        }}
      />
      {agents.length > 0 && (
        <select ref={choice} aria-label="Agent">
          {agents.map((agent) => (
            <option key={agent} value={agent}>
              {agent}
            </option>
          ))}
        </select>
      )}
      {isOffered && (
        <button type="submit" class={props.onClose === undefined ? '' : 'main'} aria-disabled={isSending.value}>
          {send}
        </button>
      )}
      {props.onClose !== undefined && (
        <button type="button" class="quiet" onClick={props.onClose}>
          Cancel
        </button>
      )}
      {isOffered && <small class="send-key">{sendKeyWords} sends</small>}
      <output class="note-state">
        {!isOffered && (
          <>
            “{action.label.replace('…', '')}” is no longer possible. Your text is kept.{' '}
            {others.length === 0 ? 'You cannot send it in another way now.' : 'Send it as: '}
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
        {isOffered && isGone && 'The row is gone. Your text goes to the issue in its current state.'}
      </output>
    </form>
  );
}
