import type { TrackerSettings } from '../../core/settings.ts';
import type { TrackerAdapter } from '../adapter.ts';
import { type Board, createBoard } from './board.ts';
import { boardErrors } from './board-errors.ts';
import type { BoardStorage } from './board-parts.ts';
import { createBoardTracker } from './board-tracker.ts';
import { boardProfile } from './profile.ts';

/** Baton's own board. */
export const boardAdapter: TrackerAdapter = {
  ...boardProfile,
  create: (settings, { storage }) => createBoardTracker(openBoard(settings, storage), storage.store),
  init: { about: "Baton's own", questions: [], settings: () => ({}), isShared: false },
  openBoard,
  errors: boardErrors,
  docs: 'docs/board.md',
};

function openBoard({ provider }: TrackerSettings, storage: BoardStorage): Board {
  // The profile has validated the prefix.
  return createBoard({ ...storage, prefix: String(provider.prefix) });
}
