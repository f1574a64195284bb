import type { Logger } from '../../core/logger.ts';
import type { BoardChanges, BoardChangesPlace, ChangedIssue } from '../../store/tables/board-changes.ts';

/**
 * Reports changed issues of the board to watchers, including changes by an agent or by another process, which send no
 * event. It reads only when `check` is called and only while there are watchers; calls during a read cause one more read
 * after it.
 */
export interface BoardWatch {
  check(): void;
  watch(watcher: (issue: ChangedIssue) => void): () => void;
}

export interface BoardWatchParts {
  readonly news: BoardChanges;
  /** The project's id in the store. */
  readonly project: string;
  readonly logger: Logger;
}

const mostAtOnce = 500;

export function createBoardWatch({ news, project, logger }: BoardWatchParts): BoardWatch {
  const watchers = new Set<(issue: ChangedIssue) => void>();
  let place: Promise<BoardChangesPlace> | null = null;
  let isReading = false;
  let isWanted = false;

  const begin = (): Promise<BoardChangesPlace> => {
    const begun = news.latest(project);
    place = begun;
    return begun;
  };

  const readChanges = async (): Promise<void> => {
    for (let isAll = false; !isAll && watchers.size > 0; ) {
      const found = await news.after(project, await (place ?? begin()), mostAtOnce);
      place = Promise.resolve(found.place);
      isAll = found.isAll;
      for (const issue of found.issues) for (const watcher of watchers) watcher(issue);
    }
  };

  const readWhileWanted = async (): Promise<void> => {
    try {
      while (isWanted) {
        isWanted = false;
        await readChanges();
      }
    } catch (error) {
      place = null;
      logger.warn('board_changes_unreadable', { error });
    }
    isReading = false;
  };

  return {
    check: () => {
      if (watchers.size === 0) return;
      isWanted = true;
      if (isReading) return;
      isReading = true;
      void readWhileWanted();
    },
    watch: (watcher) => {
      watchers.add(watcher);
      // Report changes from now on; a new watcher reads the earlier state itself.
      if (watchers.size === 1)
        begin().catch(() => {
          place = null;
        });
      return () => watchers.delete(watcher);
    },
  };
}
