import type { Author } from '../core/issue/author.ts';
import { localAuthor } from '../core/text/fence.ts';
import type { IssueComment, IssueComments } from './tracker.ts';

/** People do not read longer conversations from the beginning; an adapter requests no more from its tracker. */
export const mostComments = 50;

/** Limit for one comment. A comment says what to do; a longer one is a log or a file. */
const mostCommentCharacters = 4_000;

/** Bounds comments the same way for every adapter. They come in the tracker's order, newest last. */
export function latestComments(all: readonly Omit<IssueComment, 'leftOut'>[], hasEarlier = false): IssueComments {
  return {
    comments: all.slice(-mostComments).map((comment) => ({ ...comment, ...cutBody(comment.body) })),
    hasEarlier: hasEarlier || all.length > mostComments,
  };
}

/** Never cuts inside a character. */
function cutBody(body: string): Pick<IssueComment, 'body' | 'leftOut'> {
  const kept = body.slice(0, mostCommentCharacters).replace(/[\ud800-\udbff]$/, '');
  return body.length <= mostCommentCharacters
    ? { body, leftOut: 0 }
    : { body: kept, leftOut: body.length - kept.length };
}

/** The author of a comment that Baton itself stores: only a comment of a person has author names. */
export function commentAuthor(author: Author): Pick<IssueComment, 'author' | 'authorNames' | 'isByRun'> {
  switch (author.kind) {
    case 'person':
      return { author: author.name, authorNames: [localAuthor] };
    case 'run':
      return { author: `the agent of run ${author.runId}`, authorNames: [], isByRun: true };
    case 'orchestrator':
      return { author: 'Baton', authorNames: [], isByRun: true };
  }
}
