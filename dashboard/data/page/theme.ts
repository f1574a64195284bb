import { type ReadonlySignal, signal } from '@preact/signals';

/** Light or dark: as the machine has it, until the person says otherwise. */
export type Theme = 'auto' | 'light' | 'dark';

const key = 'baton.theme';
const order: readonly Theme[] = ['auto', 'light', 'dark'];
const chosen = signal<Theme>('auto');

export const theme: ReadonlySignal<Theme> = chosen;

export function startTheme(): void {
  const kept = localStorage.getItem(key);
  setTheme(kept === 'light' || kept === 'dark' ? kept : 'auto');
}

export function nextTheme(): void {
  setTheme(order[(order.indexOf(chosen.peek()) + 1) % order.length] ?? 'auto');
}

function setTheme(theme: Theme): void {
  chosen.value = theme;
  document.documentElement.dataset.theme = theme;
  if (theme === 'auto') localStorage.removeItem(key);
  else localStorage.setItem(key, theme);
}
