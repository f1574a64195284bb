import type { Issue } from '../core/issue/issue.ts';
import { fence, fenceRule, fenceState, isTrusted, unfencedLine, unfencedValue } from '../core/text/fence.ts';
import { harmlessLine } from '../core/text/harmless-line.ts';
import type { IssueComment, IssueComments } from '../tracker/tracker.ts';
import { mostOutputBytes } from './tool.ts';

/** The authors that the workflow file trusts, and the fence mark of this answer. */
interface Trust {
  readonly trustedAuthors: readonly string[];
  readonly mark: string;
}

/** The rest is for comments: the latest comment is worth more than the end of a long description. */
const mostDescriptionBytes = mostOutputBytes / 2;

/** Space for the rule, the note and the text around the comments. */
const roomForRest = 2_048;

/**
 * An issue with its comments for an agent, as one JSON object. What must hold:
 *
 * - Text of untrusted authors is fenced as in a prompt, all of it with one mark; the meaning of the fence is said once,
 *   before anything else. Baton's own text stands outside of every fence.
 * - It fits into one answer: a long description is cut, then the oldest comments are left out, and the answer says
 *   both. The newest comment is always included.
 */
export function describeIssue(issue: Issue, said: IssueComments | null, trust: Trust): string {
  const about = issueText(issue, trust);
  if (said === null) return whole(about, trust);
  const all = said.comments.map((comment) => commentText(comment, trust));
  const comments = newestWithin(mostOutputBytes - jsonBytes(about) - roomForRest, all);
  const isMore = said.hasEarlier || comments.length < all.length;
  const note = isMore ? { commentsNote: 'There are earlier comments, which Baton left out.' } : {};
  return whole({ ...about, ...note, comments }, trust);
}

/** Names are not fenced: each is one line, without invisible characters and without the mark. */
function issueText(issue: Issue, { trustedAuthors, mark }: Trust): Readonly<Record<string, unknown>> {
  const trusted = isTrusted(issue, trustedAuthors);
  const { title, description, ...names } = issue;
  if (trusted) return { ...names, trusted, title, ...cutDescription(description, (text) => text) };
  return {
    // The value keeps its shape of texts, lists and objects, so the type still holds.
    ...(unfencedValue(names, mark) as typeof names),
    trusted,
    title: fence(harmlessLine(title), mark),
    ...cutDescription(description, (text) => fence(text, mark)),
  };
}

/** Cuts a description that is too long, never inside a character. */
function cutDescription(whole: string | null, write: (text: string) => string): Readonly<Record<string, unknown>> {
  if (whole === null) return { description: null };
  let kept = whole;
  for (let bytes = jsonBytes(write(kept)); bytes > mostDescriptionBytes; bytes = jsonBytes(write(kept))) {
    kept = kept.slice(0, Math.floor((kept.length * mostDescriptionBytes) / bytes)).replace(/[\ud800-\udbff]$/, '');
  }
  return { description: write(kept), ...cutNote('descriptionNote', whole.length - kept.length) };
}

function cutNote(name: string, leftOut: number): Readonly<Record<string, string>> {
  return leftOut === 0 ? {} : { [name]: `Cut by Baton: ${leftOut} more characters were left out.` };
}

function commentText(comment: IssueComment, { trustedAuthors, mark }: Trust): Readonly<Record<string, unknown>> {
  const { author, at, body, leftOut } = comment;
  const trusted = isTrusted(comment, trustedAuthors);
  const name = author === null || trusted ? author : unfencedLine(author, mark);
  return {
    author: name,
    trusted,
    at: at === null ? null : new Date(at).toISOString(),
    body: trusted ? body : fence(body, mark),
    ...cutNote('note', leftOut),
  };
}

/** The newest comments that fit into `room` bytes. Comments are in order, newest last. */
function newestWithin<Comment>(room: number, comments: readonly Comment[]): readonly Comment[] {
  let left = room;
  const tooOld = comments.findLastIndex((comment) => {
    left -= jsonBytes(comment) + 1;
    return left < 0;
  });
  return comments.slice(tooOld + 1);
}

/** If the text has a fence, the rule about fences comes first. */
function whole(facts: Readonly<Record<string, unknown>>, { mark }: Trust): string {
  const text = JSON.stringify(facts);
  return fenceState(text, mark) === 'none' ? text : JSON.stringify({ note: fenceRule(mark), ...facts });
}

function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}
