/**
 * Whether a browser says that a page of another site made it send this. Pictures and scripts of such a page are fetched
 * without an `Origin`; `Sec-Fetch-Site` tells them. A person who follows a link to a page of ours is welcome.
 */
export function isForeignFetch({ method, headers, url }: Pick<Request, 'method' | 'headers' | 'url'>): boolean {
  const site = headers.get('sec-fetch-site');
  // Programs, and old browsers, say nothing; `none` is what a person typed.
  if (site === null || site === 'same-origin' || site === 'none') return false;
  return !(method === 'GET' && isTopNavigation(headers) && isPage(url));
}

function isTopNavigation(headers: Headers): boolean {
  return headers.get('sec-fetch-mode') === 'navigate' && (headers.get('sec-fetch-dest') ?? 'document') === 'document';
}

/** What is for programs is no page. */
function isPage(url: string): boolean {
  const path = URL.parse(url)?.pathname ?? '/api';
  return !/^\/(?:api|mcp|metrics)(?:\/|$)/.test(path);
}
