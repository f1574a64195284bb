import { type ReadonlySignal, signal } from '@preact/signals';

/** Where the person is. The address alone defines it: everyone who opens it sees the same. */
export interface Place {
  readonly path: string;
  readonly query: URLSearchParams;
}

const current = signal<Place>(placeNow());

export const place: ReadonlySignal<Place> = current;

function placeNow(): Place {
  return { path: location.pathname, query: new URLSearchParams(location.search) };
}

/** Goes to an address of the dashboard. */
export function go(href: string, how: 'push' | 'replace' = 'push'): void {
  if (how === 'push') {
    history.replaceState({ top: scrollY }, '');
    history.pushState(null, '', href);
  } else history.replaceState(history.state, '', href);
  const before = current.peek().path;
  current.value = placeNow();
  if (before === current.peek().path) return;
  scrollTo(0, 0);
  // A screen reader announces the new screen, and Tab begins at its top.
  queueMicrotask(() => requestAnimationFrame(() => document.querySelector<HTMLElement>('h1')?.focus()));
}

/** One word of the address's query; empty when it is missing. */
export function queryWord(name: string): string {
  return current.value.query.get(name) ?? '';
}

/** Changes words of the query and leaves the others. An empty one goes. */
export function setQuery(changes: Readonly<Record<string, string | null>>, how: 'push' | 'replace' = 'replace'): void {
  const { path, query } = placeNow();
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === '') query.delete(name);
    else query.set(name, value);
  }
  go(withQuery(path, query), how);
}

/** The address of a screen. The chosen project goes with the person from screen to screen. */
export function linkTo(path: string, words: Readonly<Record<string, string>> = {}): string {
  const query = new URLSearchParams(words);
  const project = current.value.query.get('project');
  if (project !== null && !query.has('project')) query.set('project', project);
  return withQuery(path, query);
}

/** The address of an issue; `words` go into its query: which tab, or which action. */
export function issueHref(project: string, identifier: string, words: Readonly<Record<string, string>> = {}): string {
  return linkTo(`/issue/${encodeURIComponent(project)}/${encodeURIComponent(identifier)}`, words);
}

/** The review of an issue's newest pull request, or of one by its number. */
export function reviewHref(project: string, pull: string): string {
  return linkTo(`/review/${encodeURIComponent(project)}/${encodeURIComponent(pull)}`);
}

export function runHref(project: string, runId: string, words: Readonly<Record<string, string>> = {}): string {
  return linkTo(`/run/${encodeURIComponent(project)}/${encodeURIComponent(runId)}`, words);
}

/** An event of a run, among those around it. */
export function eventHref(project: string, runId: string, seq: number | null): string {
  return runHref(project, runId, seq === null ? {} : { tab: 'events', seq: String(seq) });
}

function withQuery(path: string, query: URLSearchParams): string {
  const text = query.toString();
  return text === '' ? path : `${path}?${text}`;
}

/** Follows the browser's buttons, and takes the links of the page to itself. */
export function startRouter(): void {
  addEventListener('popstate', ({ state }) => {
    current.value = placeNow();
    // Restores the scroll position on that screen, after its content is drawn.
    const top: unknown = state?.top;
    if (typeof top === 'number') requestAnimationFrame(() => requestAnimationFrame(() => scrollTo(0, top)));
  });
  document.addEventListener('click', (event) => {
    const isPlain = event.button === 0 && !(event.metaKey || event.ctrlKey || event.shiftKey || event.altKey);
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    if (event.defaultPrevented || !isPlain || link === null || link.target !== '' || !link.hasAttribute('href')) return;
    if (link.origin !== location.origin || link.hash !== '' || link.pathname.startsWith('/api/')) return;
    event.preventDefault();
    go(link.pathname + link.search);
  });
}
