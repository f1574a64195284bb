/**
 * On every answer of the listener, whoever makes it. Nothing of another site runs in a page, nothing of it is sent
 * elsewhere, nobody frames it, and no other page reads what is here. TLS, and what a browser is told about it, is left to
 * a proxy.
 */
export const secureHeaders: Readonly<Record<string, string>> = {
  'content-security-policy': [
    ...["default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data:", "connect-src 'self'"],
    ...["font-src 'self'", "manifest-src 'self'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"],
  ].join('; '),
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};
