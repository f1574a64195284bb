import type { Clock } from '../src/clock/clock.ts';
import { toBatonError } from '../src/core/baton-error.ts';
import type { Logger } from '../src/core/logger.ts';
import type { OpenPull } from '../src/core/pull/open-pull.ts';
import { durationText } from '../src/core/text/amount-text.ts';
import { harmlessLine } from '../src/core/text/harmless-line.ts';
import type { BoardIssue } from '../src/store/tables/board-issues.ts';
import type { Board } from '../src/tracker/board/board.ts';
import type { Decision } from './changes.ts';
import { type PersonsPart, personsPart } from './demo-issues.ts';
import type { Announcement } from './lines.ts';
import type { AskingIssue } from './questions.ts';

/** A change appears shortly after its issue enters review. The demo stops waiting for it after this time. */
const patienceMs = 60_000;

export interface PlayedPerson {
  /** Checks for changes to decide about and questions to answer; soon after, when it is busy. */
  check(): void;
  /** Resolves when it is not at work any more. */
  idle(): Promise<void>;
  /** Whether it has given up this issue, or this question by its key. */
  hasRefused(key: string): boolean;
  /** Why it has given up the issue with this identifier; null when it has not. */
  whyRefused(identifier: string): string | null;
}

export interface PersonParts {
  readonly board: Pick<Board, 'list'>;
  readonly logger: Logger;
  readonly clock: Clock;
  /** Called for what it does that a watcher should know. */
  readonly say: (announcement: Announcement) => void;
  /** Whether an agent still works on this issue. */
  readonly isRunning: (id: string) => boolean;
  /** The open pull requests, by issue. */
  readonly open: () => Promise<ReadonlyMap<string, OpenPull>>;
  /** Decides about a change, as a person would; rejects when that is refused. */
  readonly decide: (pull: number, decision: Decision) => Promise<void>;
  /** Whether the agent has received all words about the first round of a change. */
  readonly hasReceived: (pull: number) => Promise<boolean>;
  /** Whether a real person watches, who has changes to decide about and answers questions. */
  readonly isWatched: boolean;
  /** The issues that wait for an answer from it; none when a real person answers. */
  readonly asking: () => readonly AskingIssue[];
  /** Rejects when it cannot. */
  readonly answer: (asking: AskingIssue) => Promise<void>;
}

/**
 * Plays the person of the demo: merges changes, and answers questions. When a real person watches, it leaves some
 * changes and all questions to them. Otherwise it also approves one change, and sends one back with words. Only a person
 * may do that, and the demo says that it does.
 */
export function playPerson(parts: PersonParts): PlayedPerson {
  const { board, logger, clock, say, isWatched } = parts;
  let working: Promise<void> | null = null;
  let checkAgain = false;
  const refused = new Set<string>();
  const reasons = new Map<string, string>();
  const missingSince = new Map<string, number>();
  const answered = new Set<string>();
  const announced = new Set<string>();
  /** A decision that waits in the queue is made again; it is said once. */
  const sayOnce = (announcement: Announcement): void => {
    const news = JSON.stringify(announcement.json);
    if (!announced.has(news)) say(announcement);
    announced.add(news);
  };
  const work = async (): Promise<void> => {
    do {
      checkAgain = false;
      await answerAll();
      const found = await board.list({ statuses: ['review'], labels: [], limit: 100 });
      // Like a person, it waits until the agent has finished.
      for (const issue of found.filter(({ id }) => !refused.has(id) && !parts.isRunning(id))) {
        const part = personsPart(issue.identifier);
        if (isWatched && part !== 'merge') continue;
        const pull = (await parts.open()).get(issue.id);
        if (pull === undefined) waitForChange(issue);
        else if (isReady(pull))
          await decideAbout(issue, pull.number, part).catch((thrown) => notDecided(issue, thrown));
      }
    } while (checkAgain);
  };
  const decideAbout = async (issue: BoardIssue, pull: number, part: PersonsPart): Promise<void> => {
    const { identifier } = issue;
    if (part !== 'merge' && part !== 'approve' && !(await parts.hasReceived(pull))) {
      await parts.decide(pull, { kind: 'send_back', ...part });
      const { note, comments } = part;
      sayOnce({
        lines: [
          `${identifier} The demo sends the change back in place of a person: ${note}`,
          ...comments.map(({ path, line, text }) => `  ${path}:${line}: ${text}`),
        ],
        json: { identifier, sent_back: note, comments },
      });
      return;
    }
    if (part !== 'merge') {
      await parts.decide(pull, { kind: 'approve' });
      const why = part === 'approve' ? '' : 'The agent has changed its work as the comment asked. ';
      sayOnce({
        lines: [`${identifier} ${why}The demo approves and merges the change in place of a person.`],
        json: { identifier, approved: true, ...(part === 'approve' ? {} : { words_arrived: true }) },
      });
    }
    await parts.decide(pull, { kind: 'merge' });
  };
  /** What moved meanwhile, or has checks again, is decided about at a later check. */
  const notDecided = (issue: BoardIssue, thrown: unknown): void => {
    const { message, details } = toBatonError(thrown);
    const { problem, verdict } = (details.data ?? {}) as { problem?: unknown; verdict?: unknown };
    if (problem === 'base_moved' || verdict === 'waiting' || details.code === 'head_moved') return;
    giveUp(issue, 'not_decided', message);
  };
  const waitForChange = (issue: BoardIssue): void => {
    const since = missingSince.get(issue.id) ?? clock.monotonic();
    missingSince.set(issue.id, since);
    if (clock.monotonic() - since < patienceMs) return;
    giveUp(issue, 'change_missing', `its change did not appear within ${durationText(patienceMs)}`);
  };
  const giveUp = ({ id, identifier }: BoardIssue, code: 'not_decided' | 'change_missing', why: string): void => {
    refused.add(id);
    const reason = `the demo cannot merge it: ${harmlessLine(why)}`;
    reasons.set(identifier, reason);
    logger.warn('demo_merge_failed', { issue_identifier: identifier, code, why });
    say({ lines: [`${identifier} stays in review: ${reason}`], json: { identifier, given_up: reason, code } });
  };
  const answerAll = async (): Promise<void> => {
    for (const asking of parts.asking()) {
      const { key, issue } = asking;
      if (refused.has(key) || answered.has(key)) continue;
      answered.add(key);
      await parts.answer(asking).catch((thrown) => {
        refused.add(key);
        const error = toBatonError(thrown);
        logger.warn('demo_answer_failed', { issue_identifier: issue.identifier, error });
      });
    }
  };
  return {
    check: () => {
      checkAgain = true;
      working ??= work()
        .catch((error) => logger.error('demo_person_failed', { error }))
        .finally(() => {
          working = null;
        });
    },
    idle: async () => {
      while (working !== null) await working;
    },
    hasRefused: (key) => refused.has(key),
    whyRefused: (identifier) => reasons.get(identifier) ?? null,
  };
}

/** Red checks go back by themselves. */
function isReady({ status, checks }: OpenPull): boolean {
  return (status === 'in_review' || status === 'approved') && (checks === 'green' || checks === 'none');
}
