import { createHash } from 'node:crypto';
import * as z from 'zod';
import { type BoardStatus, boardStatuses, readBoardStatus } from '../../../core/issue/board-status.ts';
import { fieldProblems, issueFields } from '../issue-fields.ts';

/** One checked issue of an import file. */
export interface ImportEntry extends z.output<typeof importedIssue> {
  /** The line it begins in, from 1. */
  readonly line: number;
  readonly key: string;
}

/** A problem of the file: the line, a code with its data, and the message for people. */
export type ImportProblem = ImportFault & { readonly line: number; readonly message: string };

type ImportFault =
  | { readonly problem: 'not_an_object' | 'no_issue' }
  | { readonly problem: 'too_many_issues'; readonly most: number }
  | { readonly problem: 'invalid_field' | 'unknown_field'; readonly field: string }
  | { readonly problem: 'field_twice'; readonly field: string; readonly first_line: number }
  | { readonly problem: 'title_twice' | 'key_twice'; readonly name: string; readonly first_line: number }
  | { readonly problem: 'title_of_several'; readonly name: string; readonly count: number }
  | { readonly problem: 'unknown_issue'; readonly name: string }
  | { readonly problem: 'blocker_cycle' | 'parent_cycle'; readonly cycle: readonly string[] }
  | { readonly problem: 'status_not_allowed'; readonly status: BoardStatus; readonly allowed: readonly BoardStatus[] };

/** One issue as a format reader found it, unchecked. */
export interface RawEntry {
  readonly line: number;
  readonly fields: Readonly<Record<string, unknown>>;
  /** Where a field has a line of its own. */
  readonly lines: Readonly<Record<string, number>>;
}

export interface ImportReading<Entry> {
  readonly entries: readonly Entry[];
  readonly problems: readonly ImportProblem[];
}

const { title, description, priority, labels, branch, url, reference } = issueFields;
const status = z
  .string()
  .transform((text) => readBoardStatus(text) ?? text)
  .pipe(z.enum(boardStatuses, `must be one of ${boardStatuses.join(', ')}`));

/** The keys an entry may have. A null value counts as absent. */
const importedIssue = z.strictObject({
  title,
  description: description.default(null),
  status: status.nullish().transform((value) => value ?? 'todo'),
  priority: priority.default(null),
  labels: labels.nullish().transform((value) => value ?? []),
  parent: reference.nullable().default(null),
  blocked_by: z
    .array(reference)
    .nullish()
    .transform((value) => value ?? []),
  branch: branch.default(null),
  url: url.default(null),
  key: reference.nullish(),
});

/** Checks the entries of a format reader; an entry without a key gets one from its title. */
export function checkEntries(raw: readonly RawEntry[]): ImportReading<ImportEntry> {
  const entries: ImportEntry[] = [];
  const problems: ImportProblem[] = [];
  for (const { line, fields, lines } of raw) {
    const parsed = importedIssue.safeParse(fields);
    if (parsed.success) {
      entries.push({ ...parsed.data, line, key: parsed.data.key ?? keyFromTitle(parsed.data.title) });
      continue;
    }
    for (const { problem, field, message } of fieldProblems(parsed.error)) {
      const ownLine = problem === 'invalid_field' ? lines[field.split('.')[0] ?? ''] : undefined;
      problems.push({ line: ownLine ?? line, problem, field, message });
    }
  }
  return { entries, problems };
}

/** The same title has the same key, whatever its file, so that importing a file twice creates nothing new. */
function keyFromTitle(text: string): string {
  return `import:${createHash('sha256').update(text).digest('hex').slice(0, 24)}`;
}
