/**
 * Whether the browser says that a page of another site caused this request. Images and scripts of such a page are
 * fetched without an `Origin`, but with `Sec-Fetch-Site`. A person may follow a link to one of our pages.
 */
export function isForeignFetch({ method, headers, url }: Pick<Request, 'method' | 'headers' | 'url'>): boolean {
  const site = headers.get('sec-fetch-site');
  // Programs and old browsers do not send the header; `none` means that a person typed the address.
  if (site === null || site === 'same-origin' || site === 'none') return false;
  return !(method === 'GET' && isTopNavigation(headers) && isPage(url));
}

function isTopNavigation(headers: Headers): boolean {
  return headers.get('sec-fetch-mode') === 'navigate' && (headers.get('sec-fetch-dest') ?? 'document') === 'document';
}

/** Addresses for programs are not pages. */
function isPage(url: string): boolean {
  const path = URL.parse(url)?.pathname ?? '/api';
  return !/^\/(?:api|mcp|metrics)(?:\/|$)/.test(path);
}
