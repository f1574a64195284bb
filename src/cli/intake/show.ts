import type { TaskDetail } from '../../client/schema/task.ts';
import { harmlessLine, harmlessLines } from '../../core/text/harmless-line.ts';
import { connect } from '../../daemon/connect.ts';
import type { Surroundings } from '../../daemon/surroundings.ts';
import type { WorkplaceFlags } from '../../daemon/workplace.ts';
import { exitCodes } from '../exit-codes.ts';
import { jsonLine } from '../json-line.ts';
import { commandsHere } from '../place-flags.ts';

export type TaskFlags = WorkplaceFlags & { readonly json?: boolean };

/** `baton intake show`, `baton scan show`: what the agent of a task proposed, and how to decide about it. */
export async function showTask(id: string, flags: TaskFlags, surroundings: Surroundings): Promise<number> {
  await using connection = await connect(flags, surroundings);
  const task = await connection.project.task(id);
  const here = commandsHere(flags, surroundings);
  surroundings.stdout.write(flags.json ? jsonLine({ task }) : here(`${taskLines(task).join('\n')}\n`));
  return exitCodes.ok;
}

export function taskLines(task: TaskDetail): string[] {
  const { id, kind, title, issues, open } = task;
  const head = [`${id}  ${harmlessLine(title)}`, standing(task)];
  const proposals = issues.flatMap((issue) => [
    '',
    `${issue.number}. ${harmlessLine(issue.title)}${decided(issue)}`,
    ...(issue.duplicate_of === null
      ? []
      : [`   looks like ${issue.duplicate_of.identifier}: ${harmlessLine(issue.duplicate_of.title)}`]),
    ...(issue.description === ''
      ? []
      : harmlessLines(issue.description)
          .split('\n')
          .map((line) => `   ${line}`.trimEnd())),
    ...issue.acceptance_criteria.map((each) => `   - ${harmlessLine(each)}`),
  ]);
  const next =
    open === 0
      ? []
      : [
          '',
          `To file them: baton ${kind} accept ${id} [NUMBERS]`,
          `To refuse them: baton ${kind} refuse ${id} [NUMBERS]`,
        ];
  const again = task.status === 'failed' ? [`To try it again: baton ${kind} retry ${id}`] : [];
  return [...head, ...proposals, ...next, ...again];
}

function decided({ decision, issue }: TaskDetail['issues'][number]): string {
  if (decision === 'accepted') return ` (filed as ${issue})`;
  return decision === 'refused' ? ' (refused)' : '';
}

function standing({ status, is_running, issues, open, error }: TaskDetail): string {
  switch (status) {
    case 'waiting':
      return is_running ? 'An agent is at work.' : 'It waits for an agent.';
    case 'failed':
      return `It failed: ${harmlessLine(error?.message ?? '')} (${error?.code ?? ''})`;
    case 'proposed':
      return issues.length === 0
        ? 'The agent proposes nothing.'
        : `${open} of ${issues.length} wait for your decision.`;
    case 'accepted':
      return 'Decided: some or all were accepted.';
    case 'refused':
      return 'Refused.';
  }
}
