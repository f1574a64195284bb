/**
 * What happened in a project that may teach something: a failed run, work that came back, words of a person. Its words may
 * come from anyone, so they are data wherever an agent reads them.
 */
export interface Lesson {
  readonly kind: LessonKind;
  /** The identifier of the issue. */
  readonly issue: string;
  readonly at: number;
  /** Who said it: a name, `baton`, or `agent`. */
  readonly by: string;
  readonly words: string;
}

/**
 * `failed_run`: a run ended with an error. `rejected`: a judge, a reviewer or a contract sent the work back. `check`: a check
 * was red. `note`: a person said it to an agent.
 */
export const lessonKinds = ['failed_run', 'rejected', 'check', 'note'] as const;
export type LessonKind = (typeof lessonKinds)[number];

/** Of one lesson; the beginning says what it is about. */
const longestWords = 1_000;
/** For one agent at a time: the latest ones. */
export const mostLessons = 60;

/** A lesson as a line of the text of a task has it. */
interface LessonLine extends Omit<Lesson, 'at'> {
  readonly number: number;
  readonly at: string;
}

/** The text of a task: one JSON object a line, the oldest first. A learning names its origins by their numbers. */
export function lessonsText(lessons: readonly Lesson[]): string {
  const latest = lessons.toSorted((one, other) => one.at - other.at).slice(-mostLessons);
  return latest
    .map(({ kind, issue, at, by, words }, index): LessonLine => {
      return { number: index + 1, kind, issue, at: new Date(at).toISOString(), by, words: shorten(words) };
    })
    .map((line) => JSON.stringify(line))
    .join('\n');
}

function shorten(words: string): string {
  return words.length > longestWords ? `${words.slice(0, longestWords).toWellFormed()}…` : words;
}

/** The lessons in the text of a task, by number. Only `lessonsText` writes it. */
export function lessonsIn(text: string): ReadonlyMap<number, Lesson> {
  const lines = text === '' ? [] : text.split('\n').map((line) => JSON.parse(line) as LessonLine);
  return new Map(lines.map(({ number, at, ...lesson }) => [number, { ...lesson, at: Date.parse(at) }]));
}
