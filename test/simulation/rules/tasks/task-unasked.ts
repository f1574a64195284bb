import { isTaskId } from '../../../../src/core/task/task.ts';
import type { World } from '../../world.ts';
import type { Rule } from '../rule.ts';

/** No tracker is ever asked about a task. */
export function taskUnasked(world: World): Rule {
  world.book.onAsked.add((id) => {
    if (isTaskId(id)) world.broke('task_unasked', id, 'the tracker is asked about it');
  });
  return {};
}
