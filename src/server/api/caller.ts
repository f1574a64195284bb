import type { HttpBindings } from '@hono/node-server';
import type { Author } from '../../core/issue/author.ts';

/** Facts about the connection of a request; empty when the request is made in this process. */
export interface ApiBindings extends Partial<HttpBindings> {
  /** The request came over the local socket, which only this user may open, or from this process. */
  readonly isLocal?: boolean;
  /** This process itself made the request, for its user; only with `isLocal`. */
  readonly isOwn?: boolean;
}

/**
 * The sender of a request. On the loopback address a program of the same user needs no token: it could read Baton's
 * files anyway. Two callers never count as that user: another user of the machine, and an agent of any Baton, which
 * must not answer its own questions, with or without a token. Any other caller must show a token, unless Baton sees
 * that it is this user.
 */
export interface Caller {
  readonly scopes: ReadonlySet<'read' | 'operate'>;
  /** The author of what this caller changes. */
  readonly author: Author;
  /**
   * Whether the caller's token has been revoked; missing when there was no token. For responses that outlast a request,
   * such as streams.
   */
  readonly isRevoked?: () => boolean;
  /** The caller is in this process and has the store itself, so nothing is hidden from it. */
  readonly hasStore?: true;
}

/**
 * The key under which a caller is counted. All agents share one key: there may be many of them, and people come first.
 */
export function callerKey({ author }: Caller): string {
  return author.kind === 'run' ? 'runs' : JSON.stringify(author);
}
