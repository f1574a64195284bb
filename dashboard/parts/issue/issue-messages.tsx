import type { VNode } from 'preact';
import type { IssueDetail } from '../../../src/client/schema/issue.ts';
import type { Message } from '../../../src/client/schema/message.ts';
import { runHref } from '../../data/page/router.ts';
import { plainWords } from '../../data/text/words.ts';
import { EmptyLine } from '../shared/empty-line.tsx';
import { Text } from '../shared/text.tsx';
import { ClockTime } from '../shared/time.tsx';
import { authorWords, deliveryWords } from './issue-history.tsx';

interface IssueMessagesProps {
  readonly project: string;
  readonly issue: IssueDetail;
}

/** Words for the agents of the issue, and which of them wait for the next run. */
export function IssueMessages({ project, issue }: IssueMessagesProps): VNode {
  if (issue.messages.length === 0) return <EmptyLine>No messages for its agents.</EmptyLine>;
  return (
    <ul class="past-list">
      {issue.messages.map((message) => (
        <MessageItem key={message.id} project={project} message={message} />
      ))}
    </ul>
  );
}

interface MessageItemProps {
  readonly project: string;
  readonly message: Message;
}

/** Words for an agent: whose, about what, and whether an agent has received them. */
export function MessageItem({ project, message }: MessageItemProps): VNode {
  const { at, author, kind, path, line, body, status, run_id } = message;
  return (
    <li data-status={status}>
      <ClockTime at={at} />
      <div>
        <p class="quiet-text">
          {authorWords(author)}, {plainWords(kind)}
          {path !== null && (
            <>
              {' '}
              on <Text text={line === null ? path : `${path}:${line}`} />
            </>
          )}
          {': '}
          {deliveryWords[status]}
          {run_id !== null && (
            <>
              {' · '}
              <a href={runHref(project, run_id)}>
                {status === 'waiting' ? 'Show the run that had it' : 'Show the run'}
              </a>
            </>
          )}
        </p>
        <p class="asked">
          <Text text={body} lines />
        </p>
      </div>
    </li>
  );
}
