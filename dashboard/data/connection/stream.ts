import { type ReadonlySignal, signal } from '@preact/signals';
import type { StreamEvent, StreamEventName } from '../../../src/client/schema/event.ts';
import { later, now, pause, takeDaemonTime } from '../page/clock.ts';
import { sentences } from '../text/words.ts';
import { apiRoot, giveUpRequests, type Problem, problemOf } from './api.ts';
import { untilAttended, watchAttention } from './attention.ts';
import { takeEvent } from './live.ts';
import { createSseParser, type SseMessage } from './sse-parser.ts';
import { authorization, isTokenWanted } from './token.ts';

/**
 * The connection to the daemon's events. What must hold:
 *
 * - There is one, and while the page needs it (`attention.ts`) it is open or being opened: after a loss it comes back
 *   by itself, with growing waits.
 * - It continues after the last event that was received; where the daemon cannot, it sends a snapshot, which is
 *   everything.
 * - The known state stays while the daemon is away; `link` says since when: since the last message from it.
 * - A daemon that hangs counts as away.
 */
export type Link =
  | { readonly is: 'connecting' }
  | { readonly is: 'open' }
  | { readonly is: 'away'; readonly since: number; readonly again: number; readonly why: string | null };

const state = signal<Link>({ is: 'connecting' });

export const link: ReadonlySignal<Link> = state;

const shortestWaitMs = 500;
const longestWaitMs = 5_000;
/** Retrying without a token is useless; when the user types one, the page connects at once. */
const withoutTokenMs = 600_000;
/** The daemon sends a heartbeat every five seconds; two missing ones mean that it is away. */
const longestSilenceMs = 12_000;

let lastId: string | null = null;
/** When something was last heard. */
let heardAt: number | null = null;
/** Runs whose events are wanted, as `project/run`, and by how many. */
const watched = new Map<string, number>();
let attempt = new AbortController();

/** Keeps the connection until the page is closed. */
export async function stayConnected(): Promise<void> {
  let waitMs = shortestWaitMs;
  watchAttention(connectAgain);
  for (;;) {
    await untilAttended();
    attempt = new AbortController();
    const { signal } = attempt;
    const lost = await readOnce(signal);
    if (signal.aborted) continue;
    if (lost.wasOpen) waitMs = shortestWaitMs;
    const before = state.peek();
    const since = before.is === 'away' ? before.since : (heardAt ?? now.peek());
    state.value = { is: 'away', since, again: now.peek() + waitMs, why: lost.why };
    await pause(isTokenWanted.peek() ? withoutTokenMs : waitMs, signal);
    waitMs = signal.aborted ? shortestWaitMs : Math.min(waitMs * 2, longestWaitMs);
  }
}

/** Connects at once: the person does not want to wait, or something else is asked for. */
export function connectAgain(): void {
  attempt.abort();
}

/** Asks for the events of a run, while at least one component wants them. */
export function watchRun(project: string, runId: string): () => void {
  const name = `${project}/${runId}`;
  const count = watched.get(name) ?? 0;
  watched.set(name, count + 1);
  if (count === 0) connectAgain();
  return () => {
    const left = (watched.get(name) ?? 1) - 1;
    if (left > 0) watched.set(name, left);
    else watched.delete(name);
    // Unwanted runs are dropped with the next connection.
  };
}

interface Lost {
  readonly wasOpen: boolean;
  readonly why: string | null;
}

async function readOnce(signal: AbortSignal): Promise<Lost> {
  const silence = new AbortController();
  let isOpen = false;
  let cancel = later(longestSilenceMs, () => silence.abort());
  try {
    const response = await fetch(address(), {
      headers: {
        accept: 'text/event-stream',
        ...authorization(),
        ...(lastId === null ? {} : { 'last-event-id': lastId }),
      },
      signal: AbortSignal.any([signal, silence.signal]),
      cache: 'no-store',
    });
    takeDaemonTime(response.headers.get('date'));
    if (!response.ok || response.body === null) return { wasOpen: false, why: inWords(await problemOf(response)) };
    isOpen = true;
    heardAt = now.peek();
    state.value = { is: 'open' };
    const parse = createSseParser(take);
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      cancel();
      cancel = later(longestSilenceMs, () => silence.abort());
      const { done, value } = await reader.read();
      if (done) return { wasOpen: isOpen, why: null };
      heardAt = now.peek();
      parse(value);
    }
  } catch {
    // However the connection broke, the next attempt shows more.
    return { wasOpen: isOpen, why: null };
  } finally {
    cancel();
    // A daemon that is silent here does not answer other requests either.
    if (silence.signal.aborted) giveUpRequests();
  }
}

function address(): string {
  const runs = [...watched.keys()].map((name) => `run=${encodeURIComponent(name)}`);
  return `${apiRoot}/events${runs.length === 0 ? '' : `?${runs.join('&')}`}`;
}

function inWords({ message, nextStep }: Problem): string {
  return sentences(message, nextStep);
}

const names: ReadonlySet<string> = new Set<StreamEventName>(['snapshot', 'patch', 'run_events', 'issue_changed']);

function take({ event, data, id }: SseMessage): void {
  const before = lastId;
  // An event that cannot be read is not requested again: the next connection starts with a snapshot.
  lastId = null;
  // A newer daemon may send more kinds; they are for newer pages.
  if (names.has(event)) takeEvent({ name: event, data: JSON.parse(data) } as StreamEvent);
  lastId = id ?? before;
}
