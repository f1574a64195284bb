import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { useId } from 'preact/hooks';
import type { IssueDetail } from '../../../src/client/schema/issue.ts';
import { act } from '../../data/connection/actions.ts';
import { actionNamed } from '../../data/text/command-words.ts';
import { countWords } from '../../data/text/words.ts';
import { Markdown } from '../shared/markdown.tsx';
import { TimeAgo } from '../shared/time.tsx';
import { issueSpot } from './issue-actions.tsx';
import { stampOf } from './issue-commands.tsx';
import { authorWords, deliveryWords } from './issue-history.tsx';
import { NoteForm } from './note-form.tsx';

interface IssueCommentsProps {
  readonly project: string;
  readonly issue: IssueDetail;
}

/** Older ones are shown on request. */
const newest = 10;

/** What was said about the issue, the oldest first, and the field for a new comment. */
export function IssueComments({ project, issue }: IssueCommentsProps): VNode | null {
  const isAll = useSignal(false);
  const id = useId();
  const { comments } = issue;
  const canComment = issue.actions.includes('issue_comment');
  if (comments.length === 0 && !canComment) return null;
  const shown = isAll.value ? comments : comments.slice(-newest);
  const hidden = comments.length - shown.length;
  return (
    <section class="comments" aria-labelledby={id}>
      <h2 id={id}>
        Comments <span class="count">{comments.length}</span>
      </h2>
      {hidden > 0 && (
        <button
          type="button"
          class="quiet"
          onClick={() => {
            isAll.value = true;
          }}
        >
          Show {countWords(hidden, 'earlier comment', 'earlier comments')}
        </button>
      )}
      {shown.length > 0 && (
        <ol>
          {shown.map(({ at, author, body, status }, index) => (
            <li key={hidden + index} data-status={status ?? undefined}>
              <p class="quiet-text">
                <strong>{authorWords(author)}</strong> <TimeAgo at={at} />
                {status !== null &&
                  ` · ${status === 'waiting' ? 'the agent gets it with its next run' : deliveryWords[status]}`}
              </p>
              <Markdown source={body} />
            </li>
          ))}
        </ol>
      )}
      {canComment && <NewComment project={project} issue={issue} />}
    </section>
  );
}

function NewComment({ project, issue }: IssueCommentsProps): VNode | null {
  const action = actionNamed('issue_comment');
  /** A sent comment leaves a new, empty field. */
  const sent = useSignal(0);
  const spot = issueSpot(project, issue.id, stampOf(issue));
  if (action === null) return null;
  return (
    <NoteForm
      key={sent.value}
      action={action}
      draft={`${project}/${spot.name}/${action.name}`}
      agents={[]}
      isOffered
      isGone={false}
      others={[]}
      onTurn={() => {}}
      onShown={(field) => {
        if (sent.peek() > 0) field.focus();
      }}
      onSend={async (text) => (await act(spot, action.request(issue.id, text))) !== null}
      onSent={() => {
        sent.value += 1;
      }}
    />
  );
}
