import type { Author } from '../issue/author.ts';

/** Holds that a person, or a run through the API, asked for. Only those who may release them end them. */
const askedHolds = ['person', 'held_by_agent'] as const;

export type AskedHold = (typeof askedHolds)[number];

/** A person knows of their own hold, and is notified of one that an agent asked for. */
export function askedHold({ kind }: Author): { readonly code: AskedHold; readonly who: string } {
  return kind === 'run' ? { code: 'held_by_agent', who: 'an agent' } : { code: 'person', who: 'a person' };
}

export function isAskedHold(code: string | undefined): boolean {
  return askedHolds.some((each) => each === code);
}
