import type { HttpBindings } from '@hono/node-server';
import type { Author } from '../../core/issue/author.ts';

/** What is known of a request besides its words; nothing where it is made in this process. */
export interface ApiBindings extends Partial<HttpBindings> {
  /** It came in over the local socket, which only this user may open, or from this process. */
  readonly isLocal?: boolean;
}

/**
 * Who sends a request. On the loopback address a program of the same user needs no token: whoever may run programs as
 * this user may read Baton's files as well. Two are never taken for that user: another user of the machine, and an agent
 * of any Baton, which must not answer its own questions, with or without a token. Whoever is neither seen to be this user
 * nor an agent shows a token.
 */
export interface Caller {
  readonly scopes: ReadonlySet<'read' | 'operate'>;
  /** In whose name something is changed. */
  readonly author: Author;
  /** Whether the token that was shown is refused by now; not there where none was. For what lasts longer than a request. */
  readonly isRevoked?: () => boolean;
}

/** By whom something is counted. All agents are one: there may be many of them, and people come first. */
export function callerKey({ author }: Caller): string {
  return author.kind === 'run' ? 'runs' : JSON.stringify(author);
}
