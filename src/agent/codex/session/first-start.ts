import type { AgentParts } from '../../launch-agent.ts';

/** Homes in which a session has begun, and the first starts that are under way; of this process, whoever starts them. */
const used = new Set<string>();
const underWay = new Map<string, Promise<unknown>>();

/**
 * In a home that Codex has never used it makes its databases at the first start, and of several first starts at once most
 * fail (15 of 20 seen with 0.166.0). So until a session has begun in a home they come one after the other; from then on
 * nobody waits.
 */
export async function oneFirstStart<T>(home: string, start: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  while (!used.has(home)) {
    const ahead = underWay.get(home);
    if (ahead === undefined) return first(home, start);
    await heardOf(ahead, signal);
  }
  return start();
}

/** Whoever waits for another hears at once that he need not wait any more. */
async function heardOf(ahead: Promise<unknown>, signal: AbortSignal | undefined): Promise<void> {
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

/** By what is known before the login shell has read its profile. */
export function homeOf({ accountEnv, daemonEnv }: AgentParts): string {
  return accountEnv.CODEX_HOME ?? daemonEnv.CODEX_HOME ?? daemonEnv.HOME ?? '';
}
