import { createHash } from 'node:crypto';
import type { HttpAnswer, HttpRequest } from './http.ts';
import type { TransportAnswer } from './transport.ts';

const mostAnswers = 128;
const largestBody = 2 * 1024 * 1024;
const largestSum = 8 * 1024 * 1024;

/** An answer to a GET, with the headers that ask whether it is still valid. */
export interface CachedAnswer {
  readonly validators: Readonly<Record<string, string>>;
  readonly headers: HttpAnswer['headers'];
  readonly body: string;
}

/**
 * Caches answers that can be revalidated with `If-None-Match` or `If-Modified-Since`. The key is a digest of the address and
 * all sent headers, including the credential and `Accept`. The least recently used answers are removed first.
 */
export class AnswerCache {
  readonly #answers = new Map<string, CachedAnswer>();
  #sum = 0;

  /** The cached answer; null also when the caller sends its own validator. */
  find(request: HttpRequest): CachedAnswer | null {
    if (request.method !== 'GET' || asksItself(request)) return null;
    const key = keyOf(request);
    const kept = this.#answers.get(key);
    if (kept === undefined) return null;
    this.#answers.delete(key);
    this.#answers.set(key, kept);
    return kept;
  }

  /** Replaces the cached answer; removes it when the new answer cannot be revalidated. */
  keep(request: HttpRequest, { status, headers, body }: TransportAnswer): void {
    if (request.method !== 'GET' || status !== 200 || asksItself(request)) return;
    const key = keyOf(request);
    this.#drop(key);
    const validators = validatorsIn(headers);
    const isWelcome = !/\bno-store\b/i.test(headers['cache-control'] ?? '') && body.length <= largestBody;
    if (validators === null || !isWelcome) return;
    this.#answers.set(key, { validators, headers, body });
    this.#sum += body.length;
    for (const oldest of this.#answers.keys()) {
      if (this.#answers.size <= mostAnswers && this.#sum <= largestSum) break;
      this.#drop(oldest);
    }
  }

  forget(request: HttpRequest): void {
    this.#drop(keyOf(request));
  }

  #drop(key: string): void {
    this.#sum -= this.#answers.get(key)?.body.length ?? 0;
    this.#answers.delete(key);
  }
}

/** Whether a 304 is about the cached answer. One without a tag always is. */
export function isAbout({ validators }: CachedAnswer, headers: HttpAnswer['headers']): boolean {
  const [asked, answered] = [validators['if-none-match'], headers.etag];
  return asked === undefined || answered === undefined || asked.replace(/^W\//, '') === answered.replace(/^W\//, '');
}

/** Whether the caller sends its own validator. */
export function asksItself({ headers }: HttpRequest): boolean {
  return Object.keys(headers).some((name) => /^if-(?:none-match|modified-since)$/i.test(name));
}

/** Only a well-formed validator is sent back to a service: a header must not contain arbitrary text. */
function validatorsIn(headers: HttpAnswer['headers']): Readonly<Record<string, string>> | null {
  const { etag = '', 'last-modified': modified = '' } = headers;
  const validators = {
    ...(/^(?:W\/)?"[\x21\x23-\x7e]{0,256}"$/.test(etag) ? { 'if-none-match': etag } : {}),
    ...(/^[A-Z][a-z]{2}, [\w :]{10,40}$/.test(modified) ? { 'if-modified-since': modified } : {}),
  };
  return Object.keys(validators).length === 0 ? null : validators;
}

function keyOf({ url, headers }: HttpRequest): string {
  const sent = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
  return createHash('sha256')
    .update(JSON.stringify([url, sent.toSorted()]))
    .digest('hex');
}
