import type { VNode } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { LineComment, LineComments } from '../../data/diff/line-comments.ts';
import { draftOf, keepDraft } from '../../data/page/drafts.ts';
import { isSendKey } from '../../data/page/send-key.ts';
import { Text } from '../shared/text.tsx';

interface LineCommentRowsProps {
  readonly path: string;
  readonly line: number;
  readonly comments: LineComments;
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

/** Below a line of the change: the comments on it, and the field for a new one. */
export function LineCommentRows({ path, line, comments, isOpen, onClose }: LineCommentRowsProps): VNode {
  const own = comments.all.value.filter((comment) => comment.path === path && comment.line === line);
  return (
    <>
      {own.map((comment, index) => (
        <CommentRow key={index} comment={comment} onRemove={() => comments.remove(comment)} />
      ))}
      {isOpen && (
        <NewCommentRow
          line={line}
          draft={`${comments.draft}/${path}:${line}`}
          onClose={onClose}
          onAdd={(text) => {
            comments.add({ path, line, text });
            onClose();
          }}
        />
      )}
    </>
  );
}

function CommentRow({ comment, onRemove }: { readonly comment: LineComment; readonly onRemove: () => void }): VNode {
  return (
    <tr class="comment" data-part="line-comment">
      <td colSpan={4} class="text">
        <Text text={comment.text} lines />{' '}
        <button
          type="button"
          class="quiet"
          aria-label={`Remove the comment on line ${comment.line}`}
          onClick={onRemove}
        >
          Remove
        </button>
      </td>
    </tr>
  );
}

interface NewCommentRowProps {
  readonly line: number;
  readonly draft: string;
  readonly onAdd: (text: string) => void;
  readonly onClose: () => void;
}

function NewCommentRow({ line, draft, onAdd, onClose }: NewCommentRowProps): VNode {
  const field = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => field.current?.focus(), []);
  const add = (): void => {
    const text = field.current?.value.trim() ?? '';
    if (text === '') {
      field.current?.focus();
      return;
    }
    keepDraft(draft, null);
    onAdd(text);
  };
  return (
    <tr class="comment">
      <td colSpan={4} class="text">
        <textarea
          ref={field}
          rows={2}
          aria-label={`Comment on line ${line}`}
          defaultValue={draftOf(draft) ?? ''}
          onInput={({ currentTarget: { value } }) => keepDraft(draft, value === '' ? null : value)}
          onKeyDown={(event) => {
            if (event.key === 'Escape') onClose();
            if (isSendKey(event)) add();
          }}
        />
        <div class="actions">
          <button type="button" title="Add it to what you send back (Ctrl+Enter)" onClick={add}>
            Add comment
          </button>
          <button type="button" class="quiet" onClick={onClose}>
            Cancel
          </button>
        </div>
      </td>
    </tr>
  );
}
