import type { ProposedSetup, TaskDetail } from '../../client/schema/task.ts';
import { toBatonError } from '../../core/baton-error.ts';
import { durationText } from '../../core/text/amount-text.ts';
import { harmlessLine, harmlessLines } from '../../core/text/harmless-line.ts';
import { connect } from '../../daemon/connect.ts';
import type { Surroundings } from '../../daemon/surroundings.ts';
import { exitCodes } from '../exit-codes.ts';
import { type TaskFlags, waitText } from '../intake/show.ts';
import { jsonLine } from '../json-line.ts';
import { commandsHere } from '../place-flags.ts';
import { type PlannedEdit, planEdit } from './plan-edit.ts';

/** `baton setup show`: the proposed change of the workflow file, and how each command ended when Baton ran it. */
export async function showSetup(id: string, flags: TaskFlags, surroundings: Surroundings): Promise<number> {
  await using connection = await connect(flags, surroundings);
  await showTaskOfSetup(await connection.project.task(id), flags, surroundings);
  return exitCodes.ok;
}

export async function showTaskOfSetup(task: TaskDetail, flags: TaskFlags, surroundings: Surroundings): Promise<void> {
  const edit = task.setup === null ? null : await planEdit(task.setup, flags, surroundings).catch(toBatonError);
  const diff = edit === null || edit instanceof Error ? null : edit.diff;
  const changed = edit === null || edit instanceof Error ? null : edit.isChanged;
  const problem = edit instanceof Error ? edit.message : null;
  const text = [...setupLines(task, edit instanceof Error ? null : edit), ...(problem === null ? [] : ['', problem])];
  surroundings.stdout.write(
    flags.json
      ? jsonLine({ task, diff, file_changed: changed })
      : commandsHere(flags, surroundings)(`${text.join('\n')}\n`),
  );
}

/** How many lines of the output of a command a person sees; JSON has all that is kept. */
const shownLines = 5;

function setupLines(task: TaskDetail, edit: PlannedEdit | null): string[] {
  const { id, setup, status } = task;
  const head = [`${id}  ${harmlessLine(task.title)}`, standing(task)];
  if (setup === null) return status === 'failed' ? [...head, `To try it again: baton setup retry ${id}`] : head;
  const decide =
    status === 'proposed'
      ? ['', `To write it: baton setup accept ${id}`, `To refuse it: baton setup refuse ${id}`]
      : [];
  const again = ['', 'The workflow file has changed since. For a new proposal: baton setup'];
  return [
    ...head,
    ...proofLines(setup),
    ...(edit === null ? [] : ['', ...harmlessLines(edit.diff).trimEnd().split('\n')]),
    ...(edit?.isChanged && status === 'proposed' ? again : decide),
  ];
}

function proofLines({ setup, checks, commit }: ProposedSetup): string[] {
  const commands = [...(setup === null ? [] : [setup]), ...checks];
  return [
    `Baton ran ${commands.length === 1 ? 'this command' : `these ${commands.length} commands`} on ${commit.slice(0, 12)}, in a clean checkout:`,
    ...commands.flatMap(({ name, run, exit_code, duration_ms, output }) => [
      '',
      `${harmlessLine(name)}: exit code ${exit_code ?? 'none'} after ${durationText(duration_ms)}`,
      ...harmlessLines(run)
        .split('\n')
        .map((line) => `  $ ${line}`),
      ...harmlessLines(output)
        .trimEnd()
        .split('\n')
        .slice(-shownLines)
        .map((line) => `  ${line}`.trimEnd()),
    ]),
  ];
}

function standing(task: TaskDetail): string {
  const { status, error } = task;
  switch (status) {
    case 'waiting':
      return waitText(task);
    case 'failed':
      return `It failed: ${harmlessLine(error?.message ?? '')} (${error?.code ?? ''})`;
    case 'proposed':
      return 'It waits for your decision.';
    case 'accepted':
      return 'Accepted.';
    case 'refused':
      return 'Refused.';
  }
}
