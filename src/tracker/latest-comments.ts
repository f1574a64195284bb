import type { Author } from '../core/issue/author.ts';
import { localAuthor } from '../core/text/fence.ts';
import type { IssueComment, IssueComments } from './tracker.ts';

/** More is a conversation that nobody reads to its beginning; an adapter asks its tracker for no more. */
export const mostComments = 50;

/** Of one comment. It says what to do; what is longer is a log or a file. */
const mostCommentCharacters = 4_000;

/** Comments as a tracker gives them, in their order, newest last; bounded here, the same way for every adapter. */
export function latestComments(all: readonly Omit<IssueComment, 'leftOut'>[], hasEarlier = false): IssueComments {
  return {
    comments: all.slice(-mostComments).map((comment) => ({ ...comment, ...cutBody(comment.body) })),
    hasEarlier: hasEarlier || all.length > mostComments,
  };
}

/** Never cut inside of a character. */
function cutBody(body: string): Pick<IssueComment, 'body' | 'leftOut'> {
  const kept = body.slice(0, mostCommentCharacters).replace(/[\ud800-\udbff]$/, '');
  return body.length <= mostCommentCharacters
    ? { body, leftOut: 0 }
    : { body: kept, leftOut: body.length - kept.length };
}

/** Whose words they are, where Baton itself keeps the comments: only what people wrote is the word of somebody. */
export function commentAuthor(author: Author): Pick<IssueComment, 'author' | 'authorNames'> {
  switch (author.kind) {
    case 'person':
      return { author: author.name, authorNames: [localAuthor] };
    case 'run':
      return { author: `the agent of run ${author.runId}`, authorNames: [] };
    case 'orchestrator':
      return { author: 'Baton', authorNames: [] };
  }
}
