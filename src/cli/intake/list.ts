import type { Task } from '../../client/schema/task.ts';
import { durationText } from '../../core/text/amount-text.ts';
import { harmlessLine } from '../../core/text/harmless-line.ts';
import { connect } from '../../daemon/connect.ts';
import type { Surroundings } from '../../daemon/surroundings.ts';
import { cut } from '../cell-text.ts';
import { columns } from '../columns.ts';
import { exitCodes } from '../exit-codes.ts';
import { jsonLine } from '../json-line.ts';
import type { TaskFlags } from './show.ts';

const longestTitle = 60;

const beginBy: Readonly<Record<Task['kind'], string>> = {
  intake: 'baton intake FILE',
  scan: 'baton scan now',
  setup: 'baton setup',
  learn: 'baton learn now',
};

/** `list`: the latest tasks of a kind, and how many proposals wait for a decision. */
export async function listTasks(kind: Task['kind'], flags: TaskFlags, surroundings: Surroundings): Promise<number> {
  await using connection = await connect(flags, surroundings);
  const tasks = await connection.project.tasks(kind);
  const now = surroundings.clock.now();
  const rows = tasks.map(({ id, status, is_running, open, created_at, title }) => [
    id,
    is_running ? 'running' : status,
    open === 0 ? '' : String(open),
    durationText(Math.max(0, now - Date.parse(created_at))),
    cut(harmlessLine(title), longestTitle),
  ]);
  const lines =
    rows.length === 0
      ? [`There are none. To begin one: ${beginBy[kind]}`]
      : columns(['TASK', 'STATUS', 'OPEN>', 'AGE>', 'TITLE'], rows);
  surroundings.stdout.write(flags.json ? jsonLine({ tasks }) : `${lines.join('\n')}\n`);
  return exitCodes.ok;
}
