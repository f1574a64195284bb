import { useSignal, useSignalEffect } from '@preact/signals';
import type { VNode } from 'preact';
import { useMemo, useRef } from 'preact/hooks';
import type { PullDetail } from '../../../src/client/schema/pull.ts';
import { rebaseNote } from '../../../src/core/pull/rebase-note.ts';
import { act, feedbackAt, type Spot } from '../../data/connection/actions.ts';
import type { LineComment, LineComments } from '../../data/diff/line-comments.ts';
import { draftOf, keepDraft } from '../../data/page/drafts.ts';
import { useKeys } from '../../data/page/keyboard.ts';
import { isSendKey } from '../../data/page/send-key.ts';
import { countWords } from '../../data/text/words.ts';
import { CopyLine } from '../issue/issue-takeover.tsx';
import { ActionButton } from '../shared/action-button.tsx';
import { ActionFeedback } from '../shared/action-feedback.tsx';
import { Text } from '../shared/text.tsx';
import { hint } from '../shared/tooltip.tsx';

/** Where the answers to decisions about a change are shown. */
export function reviewSpot(project: string, { number, status, head }: PullDetail): Spot {
  return { project, name: `pull/${number}`, stamp: `${status} ${head}` };
}

interface ReviewDecisionProps {
  readonly project: string;
  readonly pull: PullDetail;
  readonly comments: LineComments;
  readonly onDecided: () => void;
}

/**
 * Approve, merge, send back or close. Each decision names the commit that the page shows. Where Baton cannot merge by
 * itself, the commands for it are shown. A refused decision means that something has changed, so the page reads again.
 */
export function ReviewDecision({ project, pull, comments, onDecided }: ReviewDecisionProps): VNode {
  const { number, status, merge } = pull;
  const box = useRef<HTMLDivElement>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  const spot = reviewSpot(project, pull);
  const stable = useMemo(() => spot, [project, number]);
  useSignalEffect(() => {
    const phase = feedbackAt(stable)?.phase ?? 'sending';
    if (phase !== 'sending') onDecided();
  });
  const isOpen = status === 'in_review' || status === 'approved';
  const needsRebase = merge?.code === 'conflict' || merge?.code === 'behind';
  const press = (part: string): void => {
    const button = box.current?.querySelector<HTMLElement>(`[data-part="${part}"]`);
    button?.focus();
    button?.click();
  };
  const send = useSendBack({ spot, pull, comments, field });
  useKeys([
    { keys: 'a', label: 'approve the change', run: () => press('pr_approve') },
    {
      keys: 'm',
      label: 'merge the change (press twice), or show the command for it',
      run: () => {
        if (merge?.is_possible) press('pr_merge');
        else box.current?.querySelector<HTMLElement>('.review-commands button')?.focus();
      },
    },
    { keys: 's', label: 'write why the change goes back', run: () => field.current?.focus() },
    { keys: 'r', label: 'send the change back to be rebased', run: () => press('rebase') },
  ]);
  if (!isOpen) return <ActionFeedback spot={spot} />;
  return (
    <div ref={box} class="review-decision" data-home>
      <div class="actions">
        <Buttons spot={spot} pull={pull} />
        {needsRebase && (
          <button
            type="button"
            data-part="rebase"
            class={merge.code === 'conflict' ? 'main' : ''}
            {...hint(`Send it back to be rebased onto ${pull.base}, with what you have written (r)`)}
            aria-disabled={send.isSending}
            onClick={() => void send.now(rebaseNote)}
          >
            Send back to be rebased
          </button>
        )}
        <ActionButton
          spot={spot}
          request={{ kind: 'pr_close', pull: number }}
          label="Close"
          name={`Close the change of ${pull.issue_identifier}`}
          hint="Close it without merging; its branch and its issue stay as they are"
          confirm="Close without merging?"
        />
      </div>
      {merge !== null && !merge.is_possible && merge.commands.length > 0 && (
        <div class="review-commands">
          <p>
            <Text text={merge.text} /> To merge it, run:
          </p>
          <CopyLine name="commands" text={merge.commands.join(' && ')} />
        </div>
      )}
      <form
        class="send-back"
        data-part="pr_send_back"
        onSubmit={(event) => {
          event.preventDefault();
          void send.now();
        }}
      >
        <textarea
          ref={field}
          rows={2}
          aria-label="What has to change"
          placeholder="What has to change? The agent gets your words and continues in the same conversation."
          defaultValue={draftOf(send.draft) ?? ''}
          readOnly={send.isSending}
          onInput={({ currentTarget: { value } }) => keepDraft(send.draft, value === '' ? null : value)}
          onKeyDown={(event) => {
            if (event.key === 'Escape') event.currentTarget.blur();
            if (isSendKey(event)) void send.now();
          }}
        />
        <CommentList comments={comments} />
        <div class="actions">
          <button type="submit" aria-disabled={send.isSending} {...hint('Send it back to its agent (Ctrl+Enter)')}>
            Send back{comments.all.value.length > 0 && ` with ${countOf(comments)}`}
          </button>
          <small>To comment on a line, press its number below.</small>
        </div>
      </form>
      <ActionFeedback spot={spot} />
    </div>
  );
}

function countOf({ all }: LineComments): string {
  return countWords(all.value.length, 'comment', 'comments');
}

function Buttons({ spot, pull }: { readonly spot: Spot; readonly pull: PullDetail }): VNode {
  const { number, head, base, status, merge, issue_identifier: issue } = pull;
  const isGreen = merge?.missing_checks.length === 0;
  return (
    <>
      {status !== 'approved' && (
        <ActionButton
          spot={spot}
          request={{ kind: 'pr_approve', pull: number, head }}
          label="Approve"
          name={`Approve the change of ${issue}`}
          hint="Approve the change as it is now; it is not merged yet (a)"
        />
      )}
      {merge?.is_possible === true && (
        <ActionButton
          spot={spot}
          request={{
            kind: 'pr_merge',
            pull: number,
            head,
            ...(merge.base_commit === null ? {} : { base: merge.base_commit }),
            ...(isGreen ? {} : { ignores_checks: true }),
          }}
          label={isGreen ? 'Merge' : 'Merge anyway'}
          name={`Merge the change of ${issue}`}
          hint={`Merge the change into ${base} (${merge.method}) and finish the issue (m)`}
          confirm={isGreen ? `Merge into ${base}?` : `Merge into ${base} although its checks are not green?`}
          isMain={isGreen}
        />
      )}
    </>
  );
}

interface SendBackParts {
  readonly spot: Spot;
  readonly pull: PullDetail;
  readonly comments: LineComments;
  readonly field: { readonly current: HTMLTextAreaElement | null };
}

interface SendBack {
  /** The name of the draft of the note. */
  readonly draft: string;
  readonly isSending: boolean;
  /** Sends the change back with what is written; `more` comes after the note. */
  now(more?: string): Promise<void>;
}

function useSendBack({ spot, pull: { number, head }, comments, field }: SendBackParts): SendBack {
  const isSending = useSignal(false);
  const draft = `send-back/${spot.project}/${number}`;
  const now = async (more = ''): Promise<void> => {
    const note = [field.current?.value.trim() ?? '', more].filter((part) => part !== '').join('\n\n');
    const written = comments.all.peek();
    if (isSending.peek()) return;
    if (note === '' && written.length === 0) return field.current?.focus();
    isSending.value = true;
    const request = {
      kind: 'pr_send_back',
      pull: number,
      head,
      ...(note === '' ? {} : { note }),
      ...(written.length === 0 ? {} : { comments: [...written] }),
    } as const;
    const sent = await act(spot, request);
    isSending.value = false;
    if (sent === null) return;
    keepDraft(draft, null);
    if (field.current !== null) field.current.value = '';
    comments.clear();
  };
  return { draft, isSending: isSending.value, now };
}

/** What goes with the note, so that it can be read once more before it is sent. */
function CommentList({ comments }: { readonly comments: LineComments }): VNode | null {
  const all = comments.all.value;
  if (all.length === 0) return null;
  return (
    <ul class="comments-to-send" aria-label="Comments on lines">
      {all.map((comment: LineComment, index) => (
        <li key={index}>
          <code>
            <Text text={`${comment.path}:${comment.line}`} />
          </code>{' '}
          <Text text={comment.text} />{' '}
          <button
            type="button"
            class="quiet"
            aria-label={`Remove the comment on line ${comment.line}`}
            onClick={() => comments.remove(comment)}
          >
            Remove
          </button>
        </li>
      ))}
    </ul>
  );
}
