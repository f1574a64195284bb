import { BatonError } from '../core/baton-error.ts';
import { harmlessLine } from '../core/text/harmless-line.ts';
import type { HttpRequest } from './http.ts';

/**
 * - `refused`: no program listens there, or there is no route; `unknown_host`: there is no such name.
 * - `timed_out`: connecting, waiting for the head, reading the body, or all of it; `cut`: the connection ended in the middle.
 * - `too_large`, `unreadable`: the answer exceeds the limit or cannot be decoded; `untrusted`: a wrong certificate.
 * - `proxy`: the proxy refused; `invalid`: the request cannot be sent; `failed`: anything else.
 */
export type FailureReason =
  | 'refused'
  | 'unknown_host'
  | 'timed_out'
  | 'cut'
  | 'too_large'
  | 'unreadable'
  | 'untrusted'
  | 'proxy'
  | 'invalid'
  | 'failed';

const sentences: Readonly<Record<FailureReason, string>> = {
  refused: 'Baton could not connect',
  unknown_host: 'there is no host with that name',
  timed_out: 'it took too long',
  cut: 'the connection was cut before the answer was whole',
  too_large: 'the answer is too large',
  unreadable: 'the answer cannot be read',
  untrusted: 'the certificate of the host is not trusted',
  proxy: 'the proxy refused the request',
  invalid: 'the request is invalid',
  failed: 'it failed',
};

/** `request_failed` about this request. It names the host and the route: never a header, never the whole address. */
export function requestFailed(
  provider: string,
  request: HttpRequest,
  reason: FailureReason,
  thrown?: unknown,
): BatonError {
  const { method, route } = request;
  return new BatonError('request_failed', `${provider}: ${method} ${route} failed: ${sentences[reason]}`, {
    ...(thrown === undefined ? {} : { cause: harmlessCause(thrown, request) }),
    details: { provider, method, route, host: URL.parse(request.url)?.host ?? null, reason },
  });
}

const reasonsByCode: readonly (readonly [pattern: RegExp, reason: FailureReason])[] = [
  [/^(?:ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|EACCES)$/, 'refused'],
  [/^(?:ENOTFOUND|EAI_)/, 'unknown_host'],
  [/^(?:ETIMEDOUT|UND_ERR_(?:CONNECT|HEADERS|BODY)_TIMEOUT)$/, 'timed_out'],
  [
    /^(?:UND_ERR_RES_EXCEEDED_MAX_SIZE|UND_ERR_HEADERS_OVERFLOW|HPE_HEADER_OVERFLOW|ERR_BUFFER_TOO_LARGE)$/,
    'too_large',
  ],
  [/^(?:UND_ERR_SOCKET|UND_ERR_RES_CONTENT_LENGTH_MISMATCH|ECONNRESET|ECONNABORTED|EPIPE|UND_ERR_DESTROYED)$/, 'cut'],
  [/^(?:HPE_|Z_|ERR_BROTLI|ERR__ERROR_|ERR_PADDING|UNKNOWN_ENCODING)/, 'unreadable'],
  [/^(?:CERT_|ERR_TLS_|ERR_SSL_|EPROTO|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|HOSTNAME_MISMATCH)/, 'untrusted'],
  // Only a proxy that refuses a tunnel ends a request like this; when we abort, the reason is not read.
  [/^(?:UND_ERR_PRX_|UND_ERR_ABORTED|BAD_PROXY)/, 'proxy'],
  [/^(?:UND_ERR_INVALID_ARG|ERR_INVALID_)/, 'invalid'],
];

export function failureReason(thrown: unknown): FailureReason {
  const { code, message } = factsOf(thrown);
  if (code === 'UND_ERR_INVALID_ARG' && message.startsWith('Proxy')) return 'proxy';
  return reasonsByCode.find(([pattern]) => pattern.test(code))?.[1] ?? 'failed';
}

/**
 * The thrown error as a new one with only its code and its message. The error of a parser contains the bytes that it could
 * not parse, and a host that echoes a request would put the credential into our log.
 */
function harmlessCause(thrown: unknown, { headers, url }: HttpRequest): Error {
  const { code, message } = factsOf(thrown);
  let text = harmlessLine(message).slice(0, 300);
  const secrets = [...Object.values(headers), ...(URL.parse(url)?.search ? [url] : [])];
  for (const secret of secrets.flatMap((value) => [value, ...value.split(/\s+/)])) {
    if (secret.length >= 4) text = text.replaceAll(secret, '[secret]');
  }
  return Object.assign(new Error(code === '' ? text : `${code}: ${text}`), code === '' ? {} : { code });
}

function factsOf(thrown: unknown): { readonly code: string; readonly message: string } {
  if (!(thrown instanceof Error)) return { code: '', message: typeof thrown };
  const code = 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : '';
  // The error of the parser does not always have a code.
  const isOfParser = code === '' && thrown.name === 'HTTPParserError';
  return { code: isOfParser ? 'HPE_ERROR' : code, message: thrown.message };
}
