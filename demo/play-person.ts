import type { Clock } from '../src/clock/clock.ts';
import { toBatonError } from '../src/core/baton-error.ts';
import type { Logger } from '../src/core/logger.ts';
import { durationText } from '../src/core/text/amount-text.ts';
import { harmlessLine } from '../src/core/text/harmless-line.ts';
import type { Surroundings } from '../src/daemon/surroundings.ts';
import type { BoardIssue } from '../src/store/tables/board-issues.ts';
import type { Board } from '../src/tracker/board/board.ts';
import { demoAuthor, git } from './git.ts';
import type { Announcement } from './lines.ts';
import type { DemoFolder } from './make-demo.ts';
import type { AskingIssue } from './questions.ts';

/** A branch appears shortly after its issue enters review. The demo stops waiting for it after this time. */
const patienceMs = 60_000;

/** The author of what it does. */
export const personName = 'baton demo, in place of a person';
const person = { kind: 'person', name: personName } as const;

export interface PlayedPerson {
  /** Checks for branches to merge and questions to answer; soon after, when it is busy. */
  check(): void;
  /** Resolves when it is not at work any more. */
  idle(): Promise<void>;
  /** Whether it has given up this issue, or this question by its key. */
  hasRefused(key: string): boolean;
  /** Why it has given up the issue with this identifier; null when it has not. */
  whyRefused(identifier: string): string | null;
}

export interface PersonParts {
  readonly board: Board;
  readonly folder: DemoFolder;
  readonly logger: Logger;
  readonly clock: Clock;
  /** Called for each issue that it gives up. */
  readonly say: (announcement: Announcement) => void;
  /** Whether an agent still works on this issue. */
  readonly isRunning: (id: string) => boolean;
  /** The issues that wait for an answer from it; none when a real person answers. */
  readonly asking: () => readonly AskingIssue[];
  /** Rejects when it cannot. */
  readonly answer: (asking: AskingIssue) => Promise<void>;
}

/**
 * Plays the person of the demo: merges the branch of each issue in review and moves the issue to done, and answers
 * questions. Only a person may do that, and the demo says that it does.
 */
export function playPerson(parts: PersonParts, surroundings: Surroundings): PlayedPerson {
  const { board, folder, logger, clock } = parts;
  let working: Promise<void> | null = null;
  let checkAgain = false;
  const refused = new Set<string>();
  const reasons = new Map<string, string>();
  const missingSince = new Map<string, number>();
  const answered = new Set<string>();
  const work = async (): Promise<void> => {
    do {
      checkAgain = false;
      await answerAll();
      const found = await board.list({ statuses: ['review'], labels: [], limit: 100 });
      // Like a person, it waits until the agent has finished.
      for (const issue of found.filter(({ id }) => !refused.has(id) && !parts.isRunning(id))) {
        if (await hasBranch(issue))
          await merge(issue).catch((thrown) => giveUp(issue, 'merge_failed', toBatonError(thrown).message));
        else waitForBranch(issue);
      }
    } while (checkAgain);
  };
  const waitForBranch = (issue: BoardIssue): void => {
    const since = missingSince.get(issue.id) ?? clock.monotonic();
    missingSince.set(issue.id, since);
    if (clock.monotonic() - since < patienceMs) return;
    giveUp(issue, 'branch_missing', `its branch ${branchOf(issue)} did not appear within ${durationText(patienceMs)}`);
  };
  const giveUp = ({ id, identifier }: BoardIssue, code: 'merge_failed' | 'branch_missing', why: string): void => {
    refused.add(id);
    const reason = `the demo cannot merge it: ${harmlessLine(why)}`;
    reasons.set(identifier, reason);
    logger.warn('demo_merge_failed', { issue_identifier: identifier, code, why });
    parts.say({ lines: [`${identifier} stays in review: ${reason}`], json: { identifier, given_up: reason, code } });
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
  /** After a crash the branch can appear later than the issue. */
  const hasBranch = (issue: BoardIssue): Promise<boolean> =>
    git(folder.project, ['show-ref', '--verify', '--quiet', `refs/heads/${branchOf(issue)}`], surroundings).then(
      () => true,
      () => false,
    );
  const merge = async (issue: BoardIssue): Promise<void> => {
    const { id, identifier, title } = issue;
    const branch = branchOf(issue);
    const message = `--message=Merge ${identifier}: ${title}`;
    await git(folder.project, [...demoAuthor, 'merge', '--quiet', '--no-ff', message, branch], surroundings);
    await board.move(id, 'done', { author: person, reason: `merged ${branch}` });
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

function branchOf({ identifier }: BoardIssue): string {
  return `baton/${identifier.toLowerCase()}`;
}
