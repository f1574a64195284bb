import { nextUtcMidnight } from '../cadence/utc-day.ts';
import { commandLineOf } from '../command/command-line-of.ts';
import { harmlessLine } from '../text/harmless-line.ts';

/**
 * The causes of notifications, found in the current facts. What must hold:
 *
 * - A cause has a key that does not change while it lasts, for every reader and also after a restart.
 * - A cause that ended and came back is a new one only where its key has its own beginning, or where it was gone for
 *   `recurAfterMs`: a flickering cause is reported once.
 * - A problem of the daemon is reported when it has lasted for `steadyMs`: one failed poll is not worth a message.
 * - A limit of the day ends with its day, also without a check since.
 * - A person is not notified of what they did themselves: an issue that they hold, stopped or took over.
 */
export const notifyEvents = ['needs_you', 'held', 'limit_reached', 'finished', 'unhealthy'] as const;

export type NotifyEvent = (typeof notifyEvents)[number];

/** A recurring cause has to be gone for this long before it is reported again. */
export const recurAfterMs = 5 * 60_000;
/** A problem of the daemon is reported once it has lasted this long. */
export const steadyMs = 60_000;
/** An unreported finish older than this is not reported any more. */
export const freshMs = 3_600_000;
const longestText = 1_000;

/** The facts of one project at one instant. */
export interface NotifyFacts {
  /** When the facts held, wall time; a reader may read them later. */
  readonly at: number;
  /** False while facts are incomplete, as before the first poll: then a missing cause has not ended. */
  readonly isComplete: boolean;
  /** What waits for a person, including the problems of the daemon. */
  readonly needsYou: readonly NeedsYouFact[];
  /** Issues that reached a terminal state lately. */
  readonly finished: readonly FinishedFact[];
}

export interface NotifyIssue {
  readonly id: string;
  readonly identifier: string;
  readonly title: string | null;
  readonly url: string | null;
}

export interface NeedsYouFact {
  readonly kind: 'question' | 'held' | 'limit' | 'review' | 'account' | 'workflow' | 'daemon' | 'proposal';
  /** A name that stays the same while the fact lasts, such as `account:<backend>/<name>`. */
  readonly key: string;
  readonly code: string;
  readonly reason: string;
  /** Wall time. For a question and a hold this is when they began; for other causes it may be any time. */
  readonly since: number | null;
  readonly issue: NotifyIssue | null;
  readonly runId: string | null;
  readonly questionId: string | null;
  /** The earlier question that this one repeats, because the run that asked it was ended; null: it is new. */
  readonly repeats: string | null;
  /** The kinds of the commands that make sense, the best one first. */
  readonly actions: readonly string[];
}

export interface FinishedFact {
  readonly issue: NotifyIssue;
  readonly state: string;
  /** Wall time. */
  readonly at: number;
}

/** A cause to report once to each target that wants such events. */
export interface NotifyCause {
  readonly key: string;
  readonly event: NotifyEvent;
  /**
   * - `lasting`: begins once under its key, and is reported only while it lasts.
   * - `recurring`: the same, but it may come again under its key.
   * - `happening`: an event that is past, such as a finished issue; it is reported however late.
   */
  readonly nature: 'lasting' | 'recurring' | 'happening';
  readonly issue: NotifyIssue | null;
  readonly runId: string | null;
  readonly code: string;
  readonly reason: string;
  /** Wall time. */
  readonly since: number | null;
  /** Command lines, the best one first. */
  readonly actions: readonly string[];
}

/** Since when each problem of the daemon has been seen without a gap, by its code. */
export type ProblemSightings = ReadonlyMap<string, number>;

/** The current problems with the time of their first sighting; ended problems are dropped. */
export function problemSightings(before: ProblemSightings, { needsYou }: NotifyFacts, at: number): ProblemSightings {
  const codes = needsYou.filter(({ kind }) => kind === 'daemon').map(({ code }) => code);
  // A clock that was set back makes nothing younger than now.
  return new Map(codes.map((code) => [code, Math.min(before.get(code) ?? at, at)]));
}

/** Whether a cause is about another daemon on the same store: only that daemon knows whether it has ended. */
export function isOfOtherDaemon(key: string, daemon: string): boolean {
  return key.startsWith('unhealthy:') && !key.startsWith(`${keyOf('unhealthy', daemon)}:`);
}

/** All causes to report at `at`, each key once. `daemon` tells daemons on one store apart. */
export function causesIn(
  facts: NotifyFacts,
  { at, problems, daemon }: { readonly at: number; readonly problems: ProblemSightings; readonly daemon: string },
): readonly NotifyCause[] {
  const causes = [
    ...facts.needsYou
      .filter((fact) => !isOwnDoing(fact) && !isOfOtherDay(fact, facts.at, at))
      .flatMap((fact) => {
        if (fact.kind !== 'daemon') return [causeOf(fact)];
        const since = problems.get(fact.code) ?? at;
        return at - since >= steadyMs ? [unhealthy(fact, since, daemon)] : [];
      }),
    ...facts.finished.filter((finished) => at - finished.at <= freshMs).map(finished),
  ];
  // If two causes have the same key, the first one stays: the list begins with the most urgent.
  return [...new Map(causes.toReversed().map((cause) => [cause.key, cause])).values()].toReversed();
}

/** Codes of holds that a person asked for and knows of. */
const ownDoings: ReadonlySet<string> = new Set(['person', 'taken_over']);

function isOwnDoing({ kind, code }: NeedsYouFact): boolean {
  return kind === 'held' && ownDoings.has(code);
}

function isDayLimit({ kind, issue }: NeedsYouFact): boolean {
  return kind === 'limit' && issue === null;
}

/** The day whose limit it is has ended since. */
function isOfOtherDay(fact: NeedsYouFact, takenAt: number, at: number): boolean {
  return isDayLimit(fact) && nextUtcMidnight(takenAt) !== nextUtcMidnight(at);
}

function causeOf(fact: NeedsYouFact): NotifyCause {
  const { kind, issue, since } = fact;
  const event = kind === 'held' ? 'held' : kind === 'limit' ? 'limit_reached' : 'needs_you';
  // An issue that is held with a question is the same cause as the question.
  const question = fact.repeats ?? fact.questionId;
  if (question !== null) return cause(fact, event, keyOf('question', question), 'lasting');
  // Its key has the day and the beginning of the allowance.
  if (isDayLimit(fact)) return cause(fact, event, keyOf(kind, fact.key), 'lasting');
  const begins = kind === 'held' || kind === 'limit';
  if (begins && issue !== null && since !== null) {
    return cause(
      fact,
      event,
      keyOf(kind, ...(kind === 'limit' ? [fact.code] : []), issue.id, String(since)),
      'lasting',
    );
  }
  return cause(fact, event, keyOf(kind, issue?.id ?? fact.key), 'recurring');
}

function unhealthy(fact: NeedsYouFact, since: number, daemon: string): NotifyCause {
  return cause({ ...fact, since }, 'unhealthy', keyOf('unhealthy', daemon, fact.code), 'recurring');
}

function finished({ issue, state, at }: FinishedFact): NotifyCause {
  return {
    key: keyOf('finished', issue.id, state, String(at)),
    event: 'finished',
    nature: 'happening',
    issue: plainIssue(issue),
    runId: null,
    code: 'finished',
    reason: oneLine(`${issue.identifier} is ${state}.`),
    since: at,
    actions: [],
  };
}

function cause(fact: NeedsYouFact, event: NotifyEvent, key: string, nature: NotifyCause['nature']): NotifyCause {
  const { issue, runId, code, reason, since, questionId } = fact;
  const about = { identifier: issue?.identifier ?? null, questionId };
  return {
    key,
    event,
    nature,
    runId,
    code,
    since,
    issue: issue === null ? null : plainIssue(issue),
    reason: oneLine(reason),
    actions: fact.actions.map((kind) => commandLineOf(kind, about)).filter((line) => line !== null),
  };
}

function plainIssue({ id, identifier, title, url }: NotifyIssue): NotifyIssue {
  return { id, identifier: oneLine(identifier), title: title === null ? null : oneLine(title), url: pageAddress(url) };
}

/** An address that a browser opens as a page, as the tracker gave it; null for any other. */
function pageAddress(address: string | null): string | null {
  return address !== null && /^https?:\/\/[^\s\p{C}]+$/iu.test(address) && URL.canParse(address) ? address : null;
}

/** Foreign text in a message for people. */
function oneLine(text: string): string {
  const line = harmlessLine(text);
  return line.length <= longestText ? line : `${line.slice(0, longestText).toWellFormed()}…`;
}

/** An id is foreign text: encoded, no part of a key can look like two. */
function keyOf(...parts: readonly string[]): string {
  return parts.map((part) => encodeURIComponent(part.toWellFormed())).join(':');
}
