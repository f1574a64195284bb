import { plainWords } from '../text/words.ts';

/** What happened once, of any kind. */
interface Past {
  readonly at: string;
  readonly what: string;
}

/**
 * Each under a name that it keeps when others come, so that a text that somebody has marked stays marked. Nothing of the
 * past changes its time or its kind, and of those that are the same in both the daemon gives the earlier first.
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

/** What an issue said when it was created: the few facts that tell one from another. */
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

/** As they come: whoever wrote them down may have been an older Baton. */
type Facts = Readonly<Partial<Record<'title' | 'status' | 'priority' | 'labels', unknown>>>;
