import { toBatonError } from '../../core/baton-error.ts';
import type { Logger } from '../../core/logger.ts';
import type { BoardIssue } from '../../store/board-issues.ts';
import type { Board } from '../../tracker/board/board.ts';
import type { Surroundings } from '../surroundings.ts';
import { demoAuthor, git } from './git.ts';
import type { DemoFolder } from './make-demo.ts';

const person = { kind: 'person', name: 'baton demo, in the place of a person' } as const;

export interface PlayedPerson {
  /** Looks for branches to merge; soon after, when it is busy. */
  look(): void;
  /** Resolves when it is not merging any more. */
  rest(): Promise<void>;
  /** Whether it has given this ticket up. */
  hasRefused(id: string): boolean;
}

export interface PersonParts {
  readonly board: Board;
  readonly folder: DemoFolder;
  readonly logger: Logger;
  /** Whether an agent still works on this ticket. */
  readonly isRunning: (id: string) => boolean;
}

/**
 * Plays the person of the demo: merges the branch of each ticket in review and moves the ticket to done. Only a person
 * may do that on the board, and the demo says that it does.
 */
export function playPerson(parts: PersonParts, surroundings: Surroundings): PlayedPerson {
  const { board, folder, logger } = parts;
  let working: Promise<void> | null = null;
  let lookAgain = false;
  const refused = new Set<string>();
  const work = async (): Promise<void> => {
    do {
      lookAgain = false;
      const found = await board.list({ statuses: ['review'], labels: [], limit: 100 });
      // A person lets the agent finish its sentence.
      for (const issue of found.filter(({ id }) => !refused.has(id) && !parts.isRunning(id))) {
        if (!(await hasBranch(issue))) continue;
        await merge(issue).catch((thrown) => {
          refused.add(issue.id);
          logger.warn('The demo could not merge a branch; it stays in review.', { error: toBatonError(thrown) });
        });
      }
    } while (lookAgain);
  };
  /** After a crash it comes a moment after the ticket. */
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
    look: () => {
      lookAgain = true;
      working ??= work()
        .catch((error) => logger.error('The demo could not look for branches to merge.', { error }))
        .finally(() => {
          working = null;
        });
    },
    rest: async () => {
      while (working !== null) await working;
    },
    hasRefused: (id) => refused.has(id),
  };
}

function branchOf({ identifier }: BoardIssue): string {
  return `baton/${identifier.toLowerCase()}`;
}
