import { type Signal, signal } from '@preact/signals';
import { draftOf, keepDraft } from '../page/drafts.ts';

/** A comment on a line of the change, as the line is numbered after it. */
export interface LineComment {
  readonly path: string;
  readonly line: number;
  readonly text: string;
}

/** The comments that a person has written on one head and not sent yet. They stay as drafts when the page is left. */
export interface LineComments {
  /** The name of their draft. */
  readonly draft: string;
  readonly all: Signal<readonly LineComment[]>;
  add(comment: LineComment): void;
  remove(comment: LineComment): void;
  clear(): void;
}

export function lineComments(draft: string): LineComments {
  const all = signal<readonly LineComment[]>(read(draftOf(draft)));
  const keep = (comments: readonly LineComment[]): void => {
    all.value = comments;
    keepDraft(draft, comments.length === 0 ? null : JSON.stringify(comments));
  };
  return {
    draft,
    all,
    add: (comment) => keep([...all.peek(), comment]),
    remove: (comment) => keep(all.peek().filter((each) => each !== comment)),
    clear: () => keep([]),
  };
}

/** A draft is this page's own; one that cannot be read is dropped. */
function read(text: string | null): readonly LineComment[] {
  try {
    const found: unknown = JSON.parse(text ?? '[]');
    return Array.isArray(found) ? (found as LineComment[]) : [];
  } catch {
    return [];
  }
}
