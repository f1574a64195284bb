import type { VNode } from 'preact';
import type { Comment, HistoryEntry, IssueDetail } from '../../../src/client/schema/issue.ts';
import { createdWords, keysOf } from '../../data/issue/history-words.ts';
import { plainWords } from '../../data/text/words.ts';
import { EmptyLine } from '../shared/empty-line.tsx';
import { Markdown } from '../shared/markdown.tsx';
import { Text } from '../shared/text.tsx';
import { ClockTime } from '../shared/time.tsx';

type Entry = { readonly at: string; readonly entry: HistoryEntry } | { readonly at: string; readonly comment: Comment };

/** The history of the issue and who caused it, with the comments; the newest first. */
export function IssueHistory({ issue }: { readonly issue: IssueDetail }): VNode {
  const entries: Entry[] = [
    ...issue.history.map((entry) => ({ at: entry.at, entry })),
    ...issue.comments.map((comment) => ({ at: comment.at, comment })),
  ];
  const keys = keysOf(entries.map((each) => ({ at: each.at, what: 'comment' in each ? 'comment' : each.entry.what })));
  // Entries of the same instant keep the daemon's order.
  const newestFirst = entries
    .map((each, index) => ({ each, index }))
    .sort((a, b) => Date.parse(b.each.at) - Date.parse(a.each.at) || b.index - a.index);
  if (entries.length === 0) return <EmptyLine>No history yet.</EmptyLine>;
  return (
    <ol class="past-list">
      {newestFirst.map(({ each, index }) => (
        <li key={keys[index]} class={'comment' in each ? 'comment' : ''}>
          <ClockTime at={each.at} />
          <div>{'comment' in each ? <Said comment={each.comment} /> : <Happened entry={each.entry} />}</div>
        </li>
      ))}
    </ol>
  );
}

/** Whether an agent has received words of a person. */
export const deliveryWords = { waiting: 'waits for the next run', delivered: 'delivered' } as const;

function Said({ comment }: { readonly comment: Comment }): VNode {
  return (
    <>
      <p class="quiet-text" data-status={comment.status ?? undefined}>
        {authorWords(comment.author)} commented
        {comment.status !== null && `: ${deliveryWords[comment.status]}`}
      </p>
      <Markdown source={comment.body} />
    </>
  );
}

function Happened({ entry: { author, what, from, to, reason } }: { readonly entry: HistoryEntry }): VNode {
  const isCommand = what.startsWith('issue_') || what === 'question_answer';
  return (
    <p>
      <strong>{plainWords(what.replace(/^issue_/u, ''))}</strong>{' '}
      {!isCommand && from !== null && from !== undefined && (
        <>
          <Value value={from} isName={what === 'status'} /> →{' '}
        </>
      )}
      <Value value={what === 'created' ? createdWords(to) : to} isName={what === 'status'} />
      {reason !== null && (
        <>
          {' '}
          (<Text text={reason} />)
        </>
      )}{' '}
      <small>by {authorWords(author)}</small>
    </p>
  );
}

const longestValue = 300;

function Value({ value, isName }: { readonly value: unknown; readonly isName: boolean }): VNode | null {
  if (value === null || value === undefined) return null;
  const list = Array.isArray(value)
    ? value.map((each) => (typeof each === 'string' ? each : JSON.stringify(each)))
    : null;
  const text = list !== null ? list.join(', ') || 'none' : typeof value === 'string' ? value : JSON.stringify(value);
  const shown = isName ? plainWords(text) : text;
  return <Text text={shown.length > longestValue ? `${shown.slice(0, longestValue)}…` : shown} />;
}

/** Who did it. */
export function authorWords(author: Comment['author']): VNode {
  if (author.kind === 'person') return <Text text={author.name} />;
  return <>{author.kind === 'run' ? 'the agent' : 'Baton'}</>;
}
