import * as z from 'zod';
import { mostArtifactBytes } from '../../core/pipeline/phase.ts';
import { mostIntakeChars } from '../../core/task/task.ts';
import { author, text, textOrNone, time, timeOrNone } from './common.ts';

/** A reason, and a key chosen by the caller: a repeated request with the same key counts once. */
const envelope = {
  reason: text.max(2_000).optional(),
  key: text.min(1).max(200).optional(),
};
const issue = text.min(1).max(500);
const words = text.trim().min(1).max(100_000);
const nameOrNone = issue.nullable();
const pull = z.int().min(1);
const commit = text.min(1).max(100);
const phase = text.trim().min(1).max(100);
const task = text.trim().min(1).max(100);
const learning = text.trim().min(1).max(20);
/** Longer than is allowed, so that the answer can say what is allowed. */
const learningText = text.trim().min(1).max(10_000);

/** The fields of a new issue, or of an edit. */
const fields = {
  title: text.trim().min(1).max(500),
  /** The board allows 256 KiB. */
  description: text.max(262_144).nullable(),
  priority: z.int().min(1).max(4).nullable(),
  labels: z.array(text.max(100)).max(50),
  parent: nameOrNone,
  branch: nameOrNone,
  url: text.max(2_000).nullable(),
  blocked_by: z.array(issue).max(200),
};
const { title, ...optional } = fields;
/** `blocked_by` replaces all blockers; the other two change single ones. */
const edits = { ...fields, add_blocked_by: fields.blocked_by, remove_blocked_by: fields.blocked_by };

/** Commands that apply to all projects at once. */
export const commandForAll = z.strictObject({ kind: z.enum(['pause', 'resume', 'drain']), ...envelope });

const kinds = [
  commandForAll,
  /** With `revision`, only the changes that a person saw under it. */
  z.strictObject({ kind: z.literal('reload'), revision: text.min(1).max(100).optional(), ...envelope }),
  z.strictObject({ kind: z.enum(['issue_hold', 'issue_takeover']), issue, ...envelope }),
  /** With `run`, stops only that run, not a newer one. */
  z.strictObject({ kind: z.literal('issue_stop'), issue, run: text.min(1).max(200).optional(), ...envelope }),
  z.strictObject({
    kind: z.literal('issue_retry'),
    issue,
    note: words.optional(),
    /** The agent of the workflow file that does the next run, and its retries. */
    agent: text.min(1).max(100).optional(),
    ...envelope,
  }),
  z.strictObject({
    kind: z.enum(['issue_release', 'issue_handback']),
    issue,
    note: words.optional(),
    ...envelope,
  }),
  z.strictObject({ kind: z.literal('issue_steer'), issue, text: words, ...envelope }),
  z.strictObject({
    kind: z.literal('question_answer'),
    question: issue,
    decision: z.enum(['accept', 'accept_for_session', 'decline']).optional(),
    text: text.max(100_000).optional(),
    values: z.record(text, text.max(100_000)).optional(),
    ...envelope,
  }),
  z.strictObject({ kind: z.literal('issue_move'), issue, to: text.min(1).max(100), ...envelope }),
  z.strictObject({ kind: z.literal('issue_comment'), issue, text: text.min(1).max(100_000), ...envelope }),
  z.strictObject({
    kind: z.literal('issue_file'),
    title,
    ...z.object(optional).partial().shape,
    status: text.max(100).optional(),
    /** A key of the issue: filing it again with this key creates nothing and returns the issue. */
    issue_key: text.min(1).max(200).optional(),
    ...envelope,
  }),
  z
    .strictObject({ kind: z.literal('issue_edit'), issue, ...z.object(edits).partial().shape, ...envelope })
    .refine((edit) => Object.keys(edits).some((name) => name in edit), 'name at least one field that is to change'),
  /** `head` is the commit that the person saw: if another one is in review by then, the command is refused. */
  z.strictObject({ kind: z.literal('pr_approve'), pull, head: commit, ...envelope }),
  z.strictObject({
    kind: z.literal('pr_merge'),
    pull,
    head: commit,
    /** The commit of the base that the person saw; absent: any commit. */
    base: commit.optional(),
    method: z.enum(['merge', 'squash', 'rebase']).optional(),
    /** Merges even if a check is red or did not run. */
    ignores_checks: z.boolean().optional(),
    ...envelope,
  }),
  z
    .strictObject({
      kind: z.literal('pr_send_back'),
      pull,
      head: commit,
      note: words.optional(),
      comments: z
        .array(z.strictObject({ path: text.min(1).max(4_096), line: z.int().min(1), text: words }))
        .max(200)
        .optional(),
      ...envelope,
    })
    .refine(({ note, comments }) => note !== undefined || (comments ?? []).length > 0, 'say what has to change'),
  z.strictObject({ kind: z.literal('pr_close'), pull, ...envelope }),
  /** Without `name`, every check that has not passed. */
  z.strictObject({
    kind: z.literal('pr_check'),
    pull,
    head: commit,
    name: text.min(1).max(500).optional(),
    ...envelope,
  }),
  z.strictObject({ kind: z.literal('phase_move'), issue, phase, note: words.optional(), ...envelope }),
  z.strictObject({ kind: z.literal('phase_approve'), issue, note: words.optional(), ...envelope }),
  z.strictObject({ kind: z.literal('phase_reject'), issue, note: words, ...envelope }),
  /** Without `phase`, of the phase that the issue is in. */
  z.strictObject({
    kind: z.literal('artifact_put'),
    issue,
    phase: phase.optional(),
    /** At most 256 KiB, and at most `max_bytes` of its phase. */
    text: text.min(1).max(mostArtifactBytes),
    ...envelope,
  }),
  /** An agent reads the text and proposes issues. */
  z.strictObject({ kind: z.literal('intake_begin'), text: text.trim().min(1).max(mostIntakeChars), ...envelope }),
  /** An agent looks for improvements and proposes issues, within the budget of the scanner. */
  z.strictObject({ kind: z.literal('scan_begin'), ...envelope }),
  /** An agent finds out how the repository is built and tested. */
  z.strictObject({ kind: z.literal('setup_begin'), ...envelope }),
  /** An agent reads what happened lately and proposes learnings, within the budget of the learner. */
  z.strictObject({ kind: z.literal('learn_begin'), ...envelope }),
  z.strictObject({ kind: z.literal('learning_add'), text: learningText, ...envelope }),
  z.strictObject({ kind: z.literal('learning_edit'), learning, text: learningText, ...envelope }),
  z.strictObject({ kind: z.enum(['learning_veto', 'learning_restore']), learning, ...envelope }),
  /** Without `numbers`, all that are open; those that look like an open issue only with `duplicates`. */
  z.strictObject({
    kind: z.literal('task_accept'),
    task,
    numbers: z.array(z.int().min(1)).min(1).max(200).optional(),
    duplicates: z.boolean().optional(),
    /** Of a setup: the content of the workflow file that has it now. */
    revision: text.min(1).max(100).optional(),
    /** What the person changed before accepting it. */
    edits: z
      .array(
        z.strictObject({
          number: z.int().min(1),
          /** Of a learning. The others are of an issue. */
          text: learningText.optional(),
          ...z
            .object({ title, description: text.max(262_144), priority: fields.priority, labels: fields.labels })
            .partial().shape,
          acceptance_criteria: z.array(text.max(1_000)).max(50).optional(),
        }),
      )
      .max(200)
      .optional(),
    ...envelope,
  }),
  /** Without `numbers`, all that are open. */
  z.strictObject({
    kind: z.literal('task_refuse'),
    task,
    numbers: z.array(z.int().min(1)).min(1).max(200).optional(),
    ...envelope,
  }),
  z.strictObject({ kind: z.literal('task_retry'), task, ...envelope }),
  z.strictObject({ kind: z.enum(['workspace_pin', 'workspace_unpin']), issue, ...envelope }),
  z.strictObject({ kind: z.literal('prune'), ...envelope }),
  z.strictObject({
    kind: z.literal('workspaces_prune'),
    /** The ids of the issues. */
    issues: z.array(issue).min(1).max(10_000),
    /** Also before the end of their retention. */
    ignores_retention: z.boolean().optional(),
    ...envelope,
  }),
] as const;

/** The commands that a person may send; the orchestrator carries out each once, in order. */
export const commandRequest = z.discriminatedUnion('kind', kinds);

export const command = z.object({
  id: text,
  kind: text,
  /** In the list of commands, the identifier if it is known; otherwise as the caller wrote it. */
  issue: textOrNone,
  author,
  at: time,
  reason: textOrNone,
  /** Waiting: no answer came in time; the command is still carried out. */
  status: z.enum(['done', 'refused', 'waiting']),
  /** The stable code of the answer, from docs/command-answers.md or of an error; null while it waits. */
  code: textOrNone,
  /** The answer as text, whose wording may change. */
  text,
  /** The names and numbers of the answer, depending on its code. */
  data: z.record(text, z.unknown()),
  answered_at: timeOrNone,
  /**
   * More facts, depending on the kind: the path and the shell command after a takeover, the identifier of a new issue.
   */
  facts: z.record(text, z.unknown()),
});

export const commandAnswer = z.object({ command });
export const commandsOfAll = z.object({ commands: z.array(command.extend({ project: text })) });
export const commandList = z.object({ commands: z.array(command) });

export type CommandRequest = z.input<typeof commandRequest>;
export type Command = z.output<typeof command>;
