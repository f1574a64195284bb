import type { Command } from '../../../client/schema/command.ts';
import type { Author } from '../../../core/issue/author.ts';
import { timeText } from '../../../core/text/time-text.ts';
import type { Command as StoredCommand } from '../../../store/tables/commands.ts';

const stillWaits = 'The command waits in the store. A daemon carries it out as soon as it can.';

/** A command for other programs, with a text for people. */
export function presentCommand(command: StoredCommand, facts: Readonly<Record<string, unknown>> = {}): Command {
  const { id, kind, payload, author, at, result } = command;
  return {
    id,
    kind,
    issue: textIn(payload.issue),
    author: presentAuthor(author),
    at: timeText(at) ?? '',
    reason: textIn(payload.reason),
    status: result?.status ?? 'waiting',
    code: result?.code ?? null,
    text: result?.text ?? stillWaits,
    data: { ...result?.data },
    answered_at: timeText(result?.at ?? null),
    facts: { ...facts },
  };
}

export function presentAuthor(author: Author): Command['author'] {
  return author.kind === 'run' ? { kind: 'run', run_id: author.runId } : author;
}

function textIn(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
