import { plainWords } from '../text/words.ts';

/** A past event of any kind. */
interface Past {
  readonly at: string;
  readonly what: string;
}

/**
 * A key for each entry that stays the same when others come, so that text which a user has selected stays selected. Past
 * entries never change their time or kind, and of entries with the same time and kind the daemon returns the earlier
 * first.
 */
export function keysOf(past: readonly Past[]): readonly string[] {
  const counts = new Map<string, number>();
  return past.map(({ at, what }) => {
    const name = `${at} ${what}`;
    const count = counts.get(name) ?? 0;
    counts.set(name, count + 1);
    return `${name} ${count}`;
  });
}

/** An issue at its creation, in words: title, status, priority and labels. */
export function createdWords(facts: unknown): string {
  const { title, status, priority, labels } = (typeof facts === 'object' && facts !== null ? facts : {}) as Facts;
  const list = Array.isArray(labels) ? labels.filter((each) => typeof each === 'string' && each !== '') : [];
  return [
    ...(typeof title === 'string' && title !== '' ? [`as “${title}”`] : []),
    ...(typeof status === 'string' && status !== '' ? [`in ${plainWords(status)}`] : []),
    ...(typeof priority === 'number' ? [`with priority ${priority}`] : []),
    ...(list.length > 0 ? [`with ${list.length === 1 ? 'the label' : 'the labels'} ${list.join(', ')}`] : []),
  ].join(', ');
}

/** Unchecked: an older Baton may have written them. */
type Facts = Readonly<Partial<Record<'title' | 'status' | 'priority' | 'labels', unknown>>>;
