import type { Socket } from 'node:net';
import { actingAs, actingRun, callerProof } from '../../client/local-headers.ts';
import type { Author } from '../../core/issue/author.ts';
import type { Logger } from '../../core/logger.ts';
import type { LocalProofs } from '../local-proofs.ts';
import { refuse } from '../refusal.ts';
import type { StoredToken, TokenFile } from '../token-file.ts';
import type { ApiBindings, Caller } from './caller.ts';

/**
 * Who is at the other end of a connection, as far as this machine can see. `user`: a program of this user. `run`: the
 * agent of a run. `other`: anyone else, who needs a token. `unidentified`: the peer is gone or hides what it is; the
 * processes of the runs `hidingIn` may be it, and `unknown` stands for any run. `unsupported`: this machine cannot identify peers.
 */
export type LocalPeer =
  | { readonly kind: 'user' | 'other' | 'unsupported' }
  | { readonly kind: 'unidentified'; readonly hidingIn?: readonly string[] }
  | { readonly kind: 'run'; readonly runId: string };

/** The two ends of a connection, as Baton sees them. */
export interface ConnectionEnds {
  readonly localAddress: string;
  readonly localPort: number;
  readonly remoteAddress: string;
  readonly remotePort: number;
}

const unseen: LocalPeer = { kind: 'unidentified' };

export type FindPeer = (connection: ConnectionEnds) => Promise<LocalPeer>;

export interface IdentifyParts {
  readonly tokens: Pick<TokenFile, 'find'>;
  /** Whether only this machine reaches the listener; otherwise every caller needs a token. */
  readonly isLoopback: boolean;
  readonly userName: string;
  readonly findPeer: FindPeer;
  /** The holders of proofs on the local socket; absent when there is no such socket. */
  readonly proofs?: Pick<LocalProofs, 'find'>;
  readonly logger: Logger;
}

const everything: ReadonlySet<'read' | 'operate'> = new Set(['read', 'operate']);
const reading: ReadonlySet<'read' | 'operate'> = new Set(['read']);

/**
 * Identifies the sender of a request by the program that opened the connection, and by its token. What must hold: an
 * unidentified caller never counts as a person, and an agent stays an agent whatever token it shows.
 */
export function createIdentify(parts: IdentifyParts) {
  const peerOf = rememberPeers(parts.findPeer);
  const find = findCarefully(parts);
  return async (request: Request, bindings: ApiBindings | undefined): Promise<Caller | Response> => {
    if (bindings?.isLocal === true) return callerOnSocket(request, bindings, parts);
    const authorization = request.headers.get('authorization');
    const token = authorization === null ? null : tokenIn(authorization);
    const shown = token === null ? null : find(token);
    if (token === null ? !parts.isLoopback : shown === null) return unauthorized();
    const socket = bindings?.incoming?.socket;
    const author = socket === undefined ? null : authorOf(await peerOf(socket), shown?.name ?? null, parts.userName);
    if (author === null) return unauthorized();
    const scopes = shown?.scope === 'read' ? reading : everything;
    return { scopes, author, ...(token === null ? {} : { isRevoked: () => find(token) === null }) };
  };
}

/** Refused with a proof that this daemon did not give, so that its client fetches another. */
function callerOnSocket(
  request: Request,
  { isOwn }: ApiBindings,
  { proofs, userName }: IdentifyParts,
): Caller | Response {
  if (isOwn === true) return localCaller(request, { kind: 'user' }, userName);
  const proof = request.headers.get(callerProof);
  const peer: LocalPeer | null = proof === null ? unseen : (proofs?.find(proof) ?? null);
  return peer === null ? unauthorized() : localCaller(request, peer, userName);
}

/**
 * The caller on the local socket, or in this process. A program of this user may name the person it acts for, and any
 * caller may say that it is a run. A caller that is not seen to be this user counts as an agent, because agents can
 * open the socket too.
 */
export function localCaller({ headers }: Pick<Request, 'headers'>, peer: LocalPeer, userName: string): Caller {
  return { scopes: everything, author: localAuthor(headers, peer, userName) };
}

function localAuthor(headers: Headers, peer: LocalPeer, userName: string): Author {
  if (peer.kind === 'run') return { kind: 'run', runId: peer.runId };
  const runId = headers.get(actingRun);
  if (runId !== null) return { kind: 'run', runId: decodeURIComponent(runId) };
  if (peer.kind !== 'user' && peer.kind !== 'unsupported') return { kind: 'run', runId: 'unknown' };
  const name = headers.get(actingAs);
  return { kind: 'person', name: name === null ? userName : decodeURIComponent(name) };
}

/** The token in the header; the empty string, which is never a token, when there is none. */
function tokenIn(authorization: string): string {
  return /^bearer +([\w-]{1,200})$/i.exec(authorization)?.[1] ?? '';
}

/** Null when the caller is refused. */
function authorOf(peer: LocalPeer, tokenName: string | null, userName: string): Author | null {
  if (peer.kind === 'unidentified') return null;
  if (peer.kind === 'run') return { kind: 'run', runId: peer.runId };
  if (tokenName !== null) return { kind: 'person', name: tokenName };
  return peer.kind === 'other' ? null : { kind: 'person', name: userName };
}

/** Identifies the peer once per connection, however many requests it sends. */
export function rememberPeers(findPeer: FindPeer): (socket: Socket) => Promise<LocalPeer> {
  const known = new WeakMap<Socket, Promise<LocalPeer>>();
  return (socket) => {
    const peer = known.get(socket) ?? findPeerOf(socket, findPeer);
    known.set(socket, peer);
    const forget = (): void => void known.delete(socket);
    // Forget a peer that could not be identified, so that the next request tries again. Keep any other result.
    peer.then(({ kind }) => kind === 'unidentified' && forget(), forget);
    return peer;
  };
}

export async function findPeerOf(socket: Socket, findPeer: FindPeer): Promise<LocalPeer> {
  const { localAddress, localPort, remoteAddress, remotePort } = socket;
  // A connection that has ended has no addresses.
  if (localAddress === undefined || localPort === undefined) return unseen;
  if (remoteAddress === undefined || remotePort === undefined) return unseen;
  return findPeer({ localAddress, localPort, remoteAddress, remotePort });
}

/** An unreadable token file counts as empty. The failure is logged once, until the file can be read again. */
function findCarefully({ tokens, logger }: IdentifyParts): (token: string) => StoredToken | null {
  let isBroken = false;
  return (token) => {
    try {
      const found = tokens.find(token);
      isBroken = false;
      return found;
    } catch (error) {
      if (!isBroken) logger.error('token_file_unreadable', { error });
      isBroken = true;
      return null;
    }
  };
}

function unauthorized(): Response {
  return refuse('unauthorized', { headers: { 'www-authenticate': 'Bearer realm="baton"' } });
}
