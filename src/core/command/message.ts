import type { Author } from '../issue/author.ts';

/**
 * `note`: words of a person with a command. `reason`: why a person moved the issue back. `review_comment`: about a line
 * of the change. `check` and `conflict`: Baton itself returns the change.
 */
export type MessageKind = 'note' | 'reason' | 'review_comment' | 'check' | 'conflict';

/** Words for the next agent of an issue. */
export interface Message {
  readonly id: string;
  readonly at: number;
  readonly kind: MessageKind;
  readonly author: Author;
  readonly body: string;
  /** For words about a place in the change; null otherwise. */
  readonly path: string | null;
  readonly line: number | null;
  readonly commit: string | null;
}
