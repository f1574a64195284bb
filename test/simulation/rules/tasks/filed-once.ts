import type { TaskWorld } from '../../tasks/task-world.ts';
import type { World } from '../../world.ts';
import type { Rule } from '../rule.ts';
import { proposedIn, type TaskRow, taskRows } from './task-rows.ts';

/**
 * A task proposes at most `max_issues` of its role. Baton files an issue only for a proposal that a person accepted, under
 * the key of its task and number, and each once; and a proposal that the store has as accepted is the issue that it names.
 */
export function filedOnce(world: World, tasks: TaskWorld): Rule {
  const keys = new Set<string>();
  tasks.onFile.add(({ key }) => {
    const [task = '', number] = key.split('#');
    world.tally('issue filed for a task');
    if (keys.has(key)) world.broke('filed_once', task, `${key} is filed again`);
    keys.add(key);
    const isWanted = tasks.wishes.some(
      (wish) => wish.task === task && (wish.numbers === null || wish.numbers.includes(Number(number))),
    );
    if (!isWanted) world.broke('filed_once', task, `${key} is filed, and no person accepted it`);
    const row = taskRows(world).find(({ id }) => id === task);
    if (row === undefined || Number(number) > mostOf(world, row))
      world.broke('filed_once', task, `${key} is filed, and it is beyond what the task may propose`);
  });
  return {
    afterStep: () => {
      if (world.storeHasChanged) for (const row of taskRows(world)) compare(world, tasks, row);
    },
    atEnd: () => isNoted(world, tasks),
  };
}

function mostOf({ plan: { settings } }: World, { kind }: TaskRow): number {
  return kind === 'scan' ? settings.scanner.maxIssues : settings.intake.maxIssues;
}

function compare(world: World, { filed }: TaskWorld, row: TaskRow): void {
  const issues = proposedIn(row);
  if (issues.length > mostOf(world, row))
    world.broke('filed_once', row.id, `it proposes ${issues.length} issues, and at most ${mostOf(world, row)} may be`);
  for (const [at, { decision, issue, title }] of issues.entries()) {
    if (decision !== 'accepted') continue;
    const made = filed.get(`${row.id}#${at + 1}`);
    if (made?.identifier !== issue || made?.title !== title)
      world.broke(
        'filed_once',
        row.id,
        `number ${at + 1}, "${title}", is accepted as ${issue}, which is "${made?.title}"`,
      );
  }
}

/** Commands are repeated until they are answered, so that in the end the store has every issue that was filed. */
function isNoted(world: World, { filed }: TaskWorld): void {
  const rows = taskRows(world);
  for (const { key, identifier } of filed.values()) {
    const [task = '', number] = key.split('#');
    const row = rows.find(({ id }) => id === task);
    const decision = row === undefined ? undefined : proposedIn(row)[Number(number) - 1]?.decision;
    if (decision !== 'accepted')
      world.broke('filed_once', task, `${identifier} is filed as ${key}, which is ${decision}`);
  }
}
