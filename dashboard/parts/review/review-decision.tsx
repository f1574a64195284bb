import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { useRef } from 'preact/hooks';
import type { PullDetail } from '../../../src/client/schema/pull.ts';
import { act, type Spot } from '../../data/connection/actions.ts';
import type { LineComments } from '../../data/diff/line-comments.ts';
import { draftOf, keepDraft } from '../../data/page/drafts.ts';
import { useKeys } from '../../data/page/keyboard.ts';
import { countWords } from '../../data/text/words.ts';
import { CopyLine } from '../issue/issue-takeover.tsx';
import { ActionButton } from '../shared/action-button.tsx';
import { ActionFeedback } from '../shared/action-feedback.tsx';

interface ReviewDecisionProps {
  readonly project: string;
  readonly pull: PullDetail;
  readonly comments: LineComments;
  readonly onDecided: () => void;
}

/** What the agent is asked to do about a conflict. */
const rebaseNote = 'Rebase your branch onto the current base, resolve the conflicts, and run the tests again.';

/**
 * Approve, merge or send back. Each decision names the commit that the page shows. Where Baton cannot merge by itself,
 * the commands for it are shown.
 */
export function ReviewDecision({ project, pull, comments, onDecided }: ReviewDecisionProps): VNode | null {
  const { number, head, status, merge, issue_identifier: issue } = pull;
  const field = useRef<HTMLTextAreaElement>(null);
  const isSending = useSignal(false);
  const draft = `send-back/${project}/${number}`;
  const spot: Spot = { project, name: `pull/${number}`, stamp: `${status} ${head}` };
  const isOpen = status === 'in_review' || status === 'approved';
  const written = comments.all.value.length;
  useKeys([
    { keys: 's', label: 'write why the change goes back', run: () => field.current?.focus() },
    { keys: 'a', label: 'approve the change', run: () => void decide('pr_approve') },
  ]);
  const decide = async (kind: 'pr_approve'): Promise<void> => {
    if (!isOpen || status === 'approved') return;
    await act(spot, { kind, pull: number, head });
    onDecided();
  };
  const sendBack = async (): Promise<void> => {
    const note = field.current?.value.trim() ?? '';
    if (isSending.peek()) return;
    if (note === '' && written === 0) return field.current?.focus();
    isSending.value = true;
    const request = {
      kind: 'pr_send_back',
      pull: number,
      head,
      ...(note === '' ? {} : { note }),
      ...(written === 0 ? {} : { comments: [...comments.all.peek()] }),
    } as const;
    const sent = await act(spot, request);
    isSending.value = false;
    if (sent === null) return;
    keepDraft(draft, null);
    comments.clear();
    onDecided();
  };
  if (!isOpen) return <ActionFeedback spot={spot} />;
  return (
    <div class="review-decision" data-home>
      <div class="actions">
        {status !== 'approved' && (
          <ActionButton
            spot={spot}
            request={{ kind: 'pr_approve', pull: number, head }}
            label="Approve"
            name={`Approve the change of ${issue}`}
            hint="Approve the change as it is now; it is not merged yet"
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
            }}
            label="Merge"
            name={`Merge the change of ${issue}`}
            hint={`Merge the change into ${pull.base} (${merge.method}) and finish the issue`}
            confirm={`Merge into ${pull.base}?`}
            isMain
          />
        )}
      </div>
      {merge !== null && !merge.is_possible && merge.commands.length > 0 && (
        <div class="review-commands">
          <p>To merge it, run:</p>
          {merge.commands.map((command) => (
            <CopyLine key={command} name="command" text={command} />
          ))}
        </div>
      )}
      <form
        class="send-back"
        data-part="pr_send_back"
        onSubmit={(event) => {
          event.preventDefault();
          void sendBack();
        }}
      >
        <textarea
          ref={field}
          rows={3}
          aria-label="What has to change"
          placeholder="What has to change? The agent gets your words and continues in the same conversation."
          defaultValue={draftOf(draft) ?? (merge?.code === 'conflict' ? rebaseNote : '')}
          readOnly={isSending.value}
          onInput={({ currentTarget: { value } }) => keepDraft(draft, value === '' ? null : value)}
          onKeyDown={(event) => {
            if (event.key === 'Escape') event.currentTarget.blur();
            if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void sendBack();
          }}
        />
        <button type="submit" aria-disabled={isSending.value}>
          Send back{written === 0 ? '' : ` with ${countWords(written, 'comment', 'comments')}`}
        </button>
        <small>Ctrl+Enter sends it. To comment on a line, press its number in the change below.</small>
      </form>
      <ActionFeedback spot={spot} />
    </div>
  );
}
