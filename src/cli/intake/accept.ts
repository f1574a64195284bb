import * as z from 'zod';
import { BatonError } from '../../core/baton-error.ts';
import type { Surroundings } from '../../daemon/surroundings.ts';
import { type CommandFlags, submitCommand } from '../control/submit-command.ts';
import { readTextFile } from './read-file.ts';

export interface AcceptFlags extends CommandFlags {
  readonly duplicates?: boolean;
  readonly edited?: string;
}

/** `baton intake accept`, `baton scan accept`: files the proposals, as they are or as the person edited them. */
export async function acceptTask(
  task: string,
  numbers: readonly number[],
  flags: AcceptFlags,
  surroundings: Surroundings,
): Promise<number> {
  const { duplicates, edited, ...rest } = flags;
  const edits = edited === undefined ? [] : editsFrom(await readTextFile(edited, surroundings));
  const chosen = numbers.length > 0 ? [...numbers] : edits.map(({ number }) => number);
  return submitCommand(
    {
      kind: 'task_accept',
      task,
      ...(chosen.length === 0 ? {} : { numbers: chosen }),
      ...(duplicates ? { duplicates } : {}),
      ...(edits.length === 0 ? {} : { edits }),
    },
    rest,
    surroundings,
  );
}

/** `baton intake refuse`, `baton scan refuse`. */
export function refuseTask(
  task: string,
  numbers: readonly number[],
  flags: CommandFlags,
  surroundings: Surroundings,
): Promise<number> {
  const chosen = numbers.length === 0 ? {} : { numbers: [...numbers] };
  return submitCommand({ kind: 'task_refuse', task, ...chosen }, flags, surroundings);
}

/** `baton intake retry`, `baton scan retry`. */
export function retryTask(task: string, flags: CommandFlags, surroundings: Surroundings): Promise<number> {
  return submitCommand({ kind: 'task_retry', task }, flags, surroundings);
}

/** The proposals that are still in the edited JSON are the ones that are accepted. */
const edited = z.object({
  number: z.int().min(1),
  title: z.string(),
  description: z.string(),
  priority: z.int().min(1).max(4).nullable(),
  labels: z.array(z.string()),
  acceptance_criteria: z.array(z.string()),
});
const editedLearning = z.object({ number: z.int().min(1), text: z.string() });
const editedFile = z.object({
  task: z.object({ issues: z.array(edited), learnings: z.array(editedLearning).default([]) }),
});

function editsFrom(text: string): (z.infer<typeof edited> | z.infer<typeof editedLearning>)[] {
  const refuse = (cause: unknown): never => {
    const why = cause instanceof z.ZodError ? z.prettifyError(cause).replaceAll('\n', ' ') : 'it is not JSON';
    throw new BatonError('usage_error', `The edited proposals cannot be used: ${why}`, {
      cause,
      nextStep:
        'Begin again with the output of `show TASK --json`, and change only texts, or remove whole entries of `issues` or `learnings`.',
    });
  };
  try {
    const { issues, learnings } = editedFile.parse(JSON.parse(text)).task;
    return [...issues, ...learnings];
  } catch (cause) {
    return refuse(cause);
  }
}
