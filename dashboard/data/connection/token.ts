import { type ReadonlySignal, signal } from '@preact/signals';

/**
 * The token that another bind than the loopback address asks for. It is kept for this tab only, and forgotten with it.
 */
const place = 'baton.token';
const wanted = signal(false);

/** Whether the daemon answers nothing until a token is typed. */
export const isTokenWanted: ReadonlySignal<boolean> = wanted;

export function authorization(): Record<string, string> {
  const token = sessionStorage.getItem(place);
  return token === null ? {} : { authorization: `Bearer ${token}` };
}

export function giveToken(token: string): void {
  sessionStorage.setItem(place, token.trim());
  wanted.value = false;
}

/** The daemon refused: with no token, or with one that it does not know. */
export function askForToken(): void {
  wanted.value = true;
}
