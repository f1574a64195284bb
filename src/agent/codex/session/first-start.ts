import type { AgentParts } from '../../launch-agent.ts';

/** Homes in which a session has begun, and the first starts in progress. Shared by all sessions of this process. */
const used = new Set<string>();
const underWay = new Map<string, Promise<unknown>>();

/**
 * Codex creates its databases at the first start in a new home, and most of several concurrent first starts fail (15 of
 * 20 seen with 0.166.0). So starts in a home run one after the other until a session has begun there; after that no
 * start waits.
 */
export async function oneFirstStart<T>(home: string, start: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  while (!used.has(home)) {
    const ahead = underWay.get(home);
    if (ahead === undefined) return first(home, start);
    await waitFor(ahead, signal);
  }
  return start();
}

/** Waits for the start ahead; rejects at once when the signal aborts. */
async function waitFor(ahead: Promise<unknown>, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  const given = Promise.withResolvers<never>();
  const onAbort = (): void => given.reject(signal?.reason);
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    await Promise.race([ahead, given.promise]);
  } finally {
    signal?.removeEventListener('abort', onAbort);
  }
}

async function first<T>(home: string, start: () => Promise<T>): Promise<T> {
  const { promise, resolve } = Promise.withResolvers<void>();
  underWay.set(home, promise);
  try {
    const started = await start();
    used.add(home);
    return started;
  } finally {
    underWay.delete(home);
    resolve();
  }
}

/** Uses what is known before the login shell reads its profile. */
export function homeOf({ accountEnv, daemonEnv }: AgentParts): string {
  return accountEnv.CODEX_HOME ?? daemonEnv.CODEX_HOME ?? daemonEnv.HOME ?? '';
}
