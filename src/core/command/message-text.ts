import type { Author } from '../issue/author.ts';
import { fence, unfencedLine } from '../text/fence.ts';
import { harmlessLine } from '../text/harmless-line.ts';
import { certainTime } from '../text/time-text.ts';
import type { Message, MessageKind } from './message.ts';

/*
 * Words about an issue, as text for an agent. What must hold: the words of a person who may give commands, or whom the
 * workflow file trusts, stay unchanged. All others are fenced with the mark of the prompt: comments of strangers, and
 * what Baton quotes of an agent or of a program. No text here is longer than its bound.
 */

/** A comment from the tracker. */
export interface CommentWords {
  readonly author: string | null;
  readonly at: number | null;
  readonly body: string;
  readonly isTrusted: boolean;
}

/** The comments since an earlier run, newest last; `hasEarlier`: some of them are not here. */
export interface NewComments {
  readonly comments: readonly CommentWords[];
  readonly hasEarlier: boolean;
}

/** How each kind of message begins. */
export const heads: Readonly<Record<MessageKind, string>> = {
  note: 'A person says to you',
  reason: 'A person returned the issue to you, and says why',
  review_comment: 'A comment on your change',
  check: 'A check of your change failed',
  conflict: 'Your change conflicts with its base',
};

export function messageText(message: Message, mark: string): string {
  const { kind, body, author, path, line, commit, at } = message;
  const place = path === null ? '' : ` in ${unfencedLine(path, mark)}${line === null ? '' : `, line ${line}`}`;
  const of = commit === null ? '' : ` at commit ${unfencedLine(commit, mark).slice(0, 12)}`;
  const head = `${heads[kind]}${place}${of} (${nameOf(author, mark)}, ${certainTime(at)}):`;
  return [head, author.kind === 'person' ? body : fence(body, mark)].join('\n\n');
}

function nameOf(author: Author, mark: string): string {
  if (author.kind === 'person') return unfencedLine(author.name, mark);
  return author.kind === 'run' ? `the agent of run ${author.runId}` : 'Baton';
}

/** An agent reads further comments with the tool `get_issue`. */
const mostComments = 20;
const mostCommentChars = 30_000;

/** The newest comments that fit; null: they could not be read. Nothing where there are none. */
export function commentsText(found: NewComments | null, mark: string): string[] {
  if (found === null)
    return [
      'Baton could not read the new comments on the issue. Read them yourself before you begin: people may have commented on your work.',
    ];
  const { comments } = found;
  if (comments.length === 0) return [];
  let chars = 0;
  const kept = comments.slice(-mostComments);
  const tooOld = kept.findLastIndex(({ body }, index) => {
    chars += body.length;
    return index < kept.length - 1 && chars > mostCommentChars;
  });
  const shown = kept.slice(tooOld + 1);
  const isMore = found.hasEarlier || shown.length < comments.length;
  return [
    isMore ? 'The latest new comments on the issue; there are more:' : 'New comments on the issue:',
    ...shown.map((comment) => commentText(comment, mark)),
  ];
}

function commentText({ author, at, body, isTrusted }: CommentWords, mark: string): string {
  const time = at === null ? 'at an unknown time' : certainTime(at);
  return `- ${unfencedLine(author ?? 'unknown', mark)}, ${time}:\n\n${isTrusted ? body : fence(body, mark)}`;
}

/** A commit of a change. */
export interface CommitLine {
  readonly id: string;
  readonly subject: string;
}

export interface ExistingChange {
  readonly branch: string | null;
  /** How many there are; null where that is not known. */
  readonly ahead: number | null;
  /** The newest first, and perhaps not all. */
  readonly commits: readonly CommitLine[];
  /** The branch that it goes into, where Baton knows it. */
  readonly base: string | null;
  /** By which `git fetch` gets that branch, where it is not among those that are fetched always. */
  readonly baseReference: string | null;
  /** The commit to which others moved the branch in the repository; null: none that the workspace lacks. */
  readonly movedTo: string | null;
}

const longestSubject = 120;

/** The change that exists. Subjects are data: each has its own quoted line. */
export function changeText({ branch, ahead, commits, base, baseReference, movedTo }: ExistingChange): string {
  const on = branch === null ? 'on no branch' : `on the branch ${harmlessLine(branch)}`;
  const more = (ahead ?? 0) - commits.length;
  const current =
    baseReference === null
      ? `after \`git fetch origin\` the current one is origin/${base}`
      : `\`git fetch origin ${baseReference}\` brings the current one as FETCH_HEAD`;
  return [
    `Your work so far is ${on}. Its commits, the newest first, quoted as data. Add to them; do not begin again:`,
    '',
    ...commits.map(({ id, subject }) => `> ${id.slice(0, 12)} ${shortened(harmlessLine(subject))}`),
    ...(more > 0 ? [`> and ${more} more`] : []),
    ...(base === null ? [] : ['', `It goes into ${base}; ${current}.`]),
    ...(movedTo === null
      ? []
      : [
          '',
          `Someone else moved ${branch ?? 'your branch'} in the repository to ${movedTo.slice(0, 12)}, and your workspace lacks that commit. Run \`git fetch origin\` and build on that commit; without it your work cannot be published.`,
        ]),
  ].join('\n');
}

function shortened(text: string): string {
  return text.length <= longestSubject ? text : `${text.slice(0, longestSubject - 1).toWellFormed()}…`;
}
