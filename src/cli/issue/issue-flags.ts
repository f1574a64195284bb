import { type Command, InvalidArgumentError } from 'commander';
import { type BoardStatus, boardStatuses, readBoardStatus } from '../../core/issue/board-status.ts';

/** The fields that `add` and `edit` may set. `none` removes the value. */
export interface IssueFlags {
  readonly description?: string;
  readonly priority?: number | 'none';
  readonly label?: readonly string[];
  readonly parent?: string;
  readonly branch?: string;
  readonly url?: string;
  readonly reason?: string;
}

export function addIssueFlags(command: Command): Command {
  return command
    .option('--description <text>', 'what the agent should do; - reads it from stdin')
    .option('--priority <number>', '1 (most urgent) to 4, or none', priority)
    .option('--label <name>', 'a label; may be given several times', collect)
    .option('--parent <issue>', 'the issue it is a part of, or none')
    .option('--branch <name>', 'the git branch with the work, or none')
    .option('--url <address>', 'where it is discussed or reviewed, or none')
    .option('--reason <text>', 'why, for the history');
}

/** Collects a flag that may be given several times. */
export function collect(value: string, earlier: readonly string[] = []): string[] {
  return [...earlier, value];
}

/** `none` as a flag's value. */
export function noneAsNull(text: string): string | null {
  return text.trim().toLowerCase() === 'none' ? null : text;
}

export function status(text: string): BoardStatus {
  const found = readBoardStatus(text);
  if (found === null) throw new InvalidArgumentError(`It must be one of ${boardStatuses.join(', ')}.`);
  return found;
}

export function statuses(text: string, earlier: readonly BoardStatus[] = []): BoardStatus[] {
  return [...earlier, ...text.split(',').map(status)];
}

export function limit(text: string): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= 1 && value <= 100_000) return value;
  throw new InvalidArgumentError('It must be a whole number from 1 to 100000.');
}

/** Not null for `none`: commander would turn it into an empty text. */
function priority(text: string): number | 'none' {
  if (noneAsNull(text) === null) return 'none';
  if (/^[1-4]$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be 1, 2, 3, 4 or none.');
}
