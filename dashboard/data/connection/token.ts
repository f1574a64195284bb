import { type ReadonlySignal, signal } from '@preact/signals';

/**
 * The token that another bind than the loopback address asks for. It is kept for this tab only, and forgotten with it.
 */
const place = 'baton.token';
const wanted = signal(false);
const refused = signal(false);

/** Whether the daemon answers nothing until a token is typed. */
export const isTokenWanted: ReadonlySignal<boolean> = wanted;

/** Whether the daemon has refused the token that was typed last. */
export const isTokenRefused: ReadonlySignal<boolean> = refused;

export function authorization(): Record<string, string> {
  const token = sessionStorage.getItem(place);
  return token === null ? {} : { authorization: `Bearer ${token}` };
}

export function giveToken(token: string): void {
  sessionStorage.setItem(place, token.trim());
  refused.value = false;
  wanted.value = false;
}

/** The daemon refused: with no token, or with one that it does not know. */
export function askForToken(): void {
  refused.value = sessionStorage.getItem(place) !== null;
  wanted.value = true;
}
