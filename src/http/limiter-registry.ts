import { createHash } from 'node:crypto';
import type { Clock } from '../clock/clock.ts';
import type { Secret } from '../core/text/secret.ts';
import type { HttpProvider } from './http.ts';
import { Limiter } from './limiter.ts';

/** The limiters of a process: one for each credential at a provider, shared by every project that uses it. */
export interface LimiterRegistry {
  /** All callers without a credential share the limiter of null. */
  limiterOf(provider: HttpProvider, credential: Secret | null): Limiter;
}

export function createLimiterRegistry(clock: Clock): LimiterRegistry {
  const limiters = new Map<string, Limiter>();
  return {
    limiterOf(provider, credential) {
      const key = `${provider.name} ${credentialDigest(credential)}`;
      const known = limiters.get(key) ?? new Limiter(provider, clock);
      limiters.set(key, known);
      return known;
    },
  };
}

/** Identifies a credential without storing it. */
export function credentialDigest(credential: Secret | null): string {
  return credential === null ? 'none' : createHash('sha256').update(credential.reveal()).digest('hex');
}
