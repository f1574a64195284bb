import * as z from 'zod';
import { BatonError } from '../../core/baton-error.ts';
import type { Author } from '../../core/issue/author.ts';
import { boardStatuses } from '../../core/issue/board-status.ts';
import { normalizeLabels } from '../../core/issue/issue.ts';
import { boardErrors } from './board-errors.ts';

const longestTitle = 500;
const longestBranch = 250;
const longestDescriptionBytes = 256 * 1024;
const longestCommentBytes = 64 * 1024;
const longestReason = 2_000;
const longestName = 200;
const longestUrl = 2_000;
const mostLabels = 50;
const longestLabel = 100;
const mostBlockers = 200;

/**
 * Text that both engines of the store keep unchanged: PostgreSQL has no NUL, and half a surrogate pair is not a
 * character.
 */
const text = z.string().refine((value) => !value.includes('\0') && value.isWellFormed(), 'must be text without NUL');
const line = text.refine((value) => !/\p{Cc}/u.test(value.trim()), 'must be one line without control characters');

const title = line
  .transform((value) => value.trim())
  .pipe(z.string().min(1, 'must not be blank').max(longestTitle, `must have at most ${longestTitle} characters`));
const description = text
  .refine((value) => Buffer.byteLength(value) <= longestDescriptionBytes, 'must have at most 256 KiB')
  .transform(blankAsNull)
  .nullable();
const priority = z
  .int('must be a number from 1 to 4')
  .min(1, 'must be from 1 to 4')
  .max(4, 'must be from 1 to 4')
  .nullable();
const labels = z
  .array(line)
  .transform(normalizeLabels)
  .refine((found) => found.length <= mostLabels, `must be at most ${mostLabels}`)
  .refine(
    (found) => found.every(({ length }) => length <= longestLabel),
    `must each have at most ${longestLabel} characters`,
  );
const branch = z.string().refine(isPlausibleBranch, 'must be the name of a git branch').nullable();
const url = line
  .max(longestUrl)
  .refine((value) => ['http:', 'https:'].includes(URL.parse(value)?.protocol ?? ''), 'must be an http(s) address')
  .nullable();
const id = z.string().min(1);
const reference = line.refine((value) => value.trim() !== '', 'must not be blank').max(longestName);

/** The fields that mean the same in an operation and in an import file. */
export const issueFields = { title, description, priority, labels, branch, url, reference };

/** A request for a new issue; absent fields get the defaults of an untouched issue. */
export const newIssue = z.strictObject({
  title,
  description: description.default(null),
  status: z.enum(boardStatuses, `must be one of ${boardStatuses.join(', ')}`).default('todo'),
  priority: priority.default(null),
  labels: labels.default([]),
  parentId: id.nullable().default(null),
  branch: branch.default(null),
  url: url.default(null),
  blockerIds: z.array(id).max(mostBlockers).default([]),
  clientKey: reference.nullable().default(null),
});
export type NewIssue = z.input<typeof newIssue>;

/** The fields that an edit may change. Status and blockers have their own operations. */
export const issueEdit = z
  .strictObject({ title, description, priority, labels, parentId: id.nullable(), branch, url })
  .partial();
export type IssueEdit = z.input<typeof issueEdit>;

export const commentBody = text
  .refine((value) => value.trim() !== '', 'must not be blank')
  .refine((value) => Buffer.byteLength(value) <= longestCommentBytes, 'must have at most 64 KiB');

/** Who changes something, and why: history stores it with the change. */
export interface ChangeBy {
  readonly author: Author;
  readonly reason?: string | null;
}

export const changeBy = z.strictObject({
  author: z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('person'), name: reference }),
    z.strictObject({ kind: z.literal('run'), runId: reference }),
    z.strictObject({ kind: z.literal('orchestrator') }),
  ]),
  reason: text
    .max(longestReason, `must have at most ${longestReason} characters`)
    .transform(blankAsNull)
    .nullish()
    .transform((value) => value ?? null),
});

/** Returns the parsed input, or throws one error that names every wrong field. */
export function checked<Schema extends z.ZodType>(schema: Schema, input: unknown, what: string): z.output<Schema> {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  const problems = fieldProblems(parsed.error);
  const said = problems.map(({ message }) => message).join('; ');
  throw new BatonError(boardErrors.board_issue_invalid, `The ${what} is invalid: ${said}.`, {
    details: { problems },
  });
}

/** A wrong field, with a message for people. The field is empty when the input as a whole is wrong. */
interface FieldProblem {
  readonly problem: 'invalid_field' | 'unknown_field';
  readonly field: string;
  readonly message: string;
}

export function fieldProblems(error: z.ZodError): FieldProblem[] {
  return error.issues.flatMap((issue): FieldProblem[] => {
    const field = issue.path.join('.');
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) => ({
        problem: 'unknown_field',
        field: key,
        message: `"${key}" is not a known field`,
      }));
    }
    return [{ problem: 'invalid_field', field, message: field === '' ? issue.message : `${field} ${issue.message}` }];
  });
}

function blankAsNull(value: string): string | null {
  return value.trim() === '' ? null : value;
}

/** Rejects what `git check-ref-format --branch` would refuse, as far as the name alone shows. */
function isPlausibleBranch(name: string): boolean {
  const parts = name.split('/');
  return (
    name.length <= longestBranch &&
    name !== '@' &&
    !name.startsWith('-') &&
    !/[\s\p{Cc}~^:?*[\\]|\.\.|@\{/u.test(name) &&
    !name.endsWith('.') &&
    parts.every((part) => part !== '' && !part.startsWith('.') && !part.endsWith('.lock'))
  );
}
