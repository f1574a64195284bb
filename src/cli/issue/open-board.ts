import { systemChance } from '../../clock/system-chance.ts';
import { systemClock } from '../../clock/system-clock.ts';
import type { Surroundings } from '../../daemon/surroundings.ts';
import { openBoard } from '../../daemon/trackers.ts';
import { openWorkplace } from '../../daemon/workplace.ts';
import type { BoardPlace, OpenBoard } from './board-context.ts';
import { readWork } from './work-on-issue.ts';

/** Opens the board of a workflow file next to its daemon, and wakes the daemon at the end if something changed. */
export async function openBoardBeside(place: BoardPlace, surroundings: Surroundings): Promise<OpenBoard> {
  const workplace = await openWorkplace(place, surroundings);
  let changed = false;
  try {
    const storage = {
      clock: systemClock,
      chance: systemChance,
      store: workplace.store,
      project: workplace.project.id,
      onChange: () => {
        changed = true;
      },
    };
    const board = openBoard(workplace.settings.tracker, storage, surroundings);
    return {
      board,
      readWork: (issueId) => readWork(workplace.store, workplace.project.id, issueId),
      close: async () => {
        if (changed) await workplace.wake();
        await workplace[Symbol.asyncDispose]();
      },
    };
  } catch (error) {
    await workplace[Symbol.asyncDispose]();
    throw error;
  }
}
