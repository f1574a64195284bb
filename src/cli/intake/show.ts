import type { TaskDetail } from '../../client/schema/task.ts';
import { originText } from '../../core/learning/learning.ts';
import type { Decision } from '../../core/task/proposal.ts';
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
  const { id, kind, title, issues, learnings, open } = task;
  const head = [`${id}  ${harmlessLine(title)}`, standing(task)];
  const proposals = issues.flatMap((issue) => [
    '',
    `${issue.number}. ${harmlessLine(issue.title)}${decided({ decision: issue.decision, became: issue.issue })}`,
    ...(issue.duplicate_of === null
      ? []
      : [`   looks like ${issue.duplicate_of.identifier}: ${harmlessLine(issue.duplicate_of.title)}`]),
    ...(issue.description === ''
      ? []
      : harmlessLines(issue.description)
          .split('\n')
          .map((line) => `   ${line}`.trimEnd())),
    ...issue.acceptance_criteria.map((each) => `   - ${harmlessLine(each)}`),
    ...filedWith(issue),
  ]);
  const taught = learnings.flatMap(({ number, text, origins, replaces, decision, learning }) => [
    '',
    `${number}. ${harmlessLine(text)}${decided({ decision, became: learning })}`,
    `   ${[originText(origins.map((each) => ({ ...each, at: Date.parse(each.at) }))), ...replaces.map((old) => `replaces ${old}`)].join('; ')}`,
  ]);
  const next =
    open === 0
      ? []
      : [
          '',
          `To ${kind === 'learn' ? 'accept' : 'file'} them: baton ${kind} accept ${id} [NUMBERS]`,
          `To refuse them: baton ${kind} refuse ${id} [NUMBERS]`,
        ];
  const again = task.status === 'failed' ? [`To try it again: baton ${kind} retry ${id}`] : [];
  return [...head, ...proposals, ...taught, ...next, ...again];
}

/** What a person accepts with a proposal: a label may let Baton split, route or merge the issue. */
function filedWith({ labels, priority }: Pick<TaskDetail['issues'][number], 'labels' | 'priority'>): string[] {
  const words = [
    ...(priority === null ? [] : [`priority ${priority}`]),
    ...(labels.length === 0 ? [] : [`labels ${labels.map(harmlessLine).join(', ')}`]),
  ];
  return words.length === 0 ? [] : [`   ${words.join('; ')}`];
}

/** Of a task that has no answer yet: whether its agent is at work, and if not, why. */
export function waitText({ is_running, waits_for }: Pick<TaskDetail, 'is_running' | 'waits_for'>): string {
  if (is_running) return 'An agent is at work.';
  return waits_for === null ? 'It waits for an agent.' : `It waits for an agent: ${harmlessLine(waits_for.text)}`;
}

function decided({ decision, became }: { readonly decision: Decision; readonly became: string | null }): string {
  if (decision === 'accepted') return ` (accepted as ${became})`;
  return decision === 'refused' ? ' (refused)' : '';
}

function standing(task: TaskDetail): string {
  const { status, issues, learnings, open, error } = task;
  const all = issues.length + learnings.length;
  switch (status) {
    case 'waiting':
      return waitText(task);
    case 'failed':
      return `It failed: ${harmlessLine(error?.message ?? '')} (${error?.code ?? ''})`;
    case 'proposed':
      return all === 0 ? 'The agent proposes nothing.' : `${open} of ${all} wait for your decision.`;
    case 'accepted':
      return 'Decided: some or all were accepted.';
    case 'refused':
      return 'Refused.';
  }
}
