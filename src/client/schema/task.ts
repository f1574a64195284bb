import * as z from 'zod';
import { taskKinds, taskStatuses } from '../../core/task/task.ts';
import { author, count, reason, text, textOrNone, time } from './common.ts';
import { learningOrigin } from './learning.ts';

const proposedIssue = z.object({
  /** From 1; commands name it by this. */
  number: count,
  title: text,
  description: text,
  acceptance_criteria: z.array(text),
  priority: count.nullable(),
  labels: z.array(text),
  /** The open issue that asks for the same; null: none was found. */
  duplicate_of: z.object({ identifier: text, title: text }).nullable(),
  decision: z.enum(['open', 'accepted', 'refused']),
  /** The issue that it became. */
  issue: textOrNone,
});

const proposedLearning = z.object({
  /** From 1; commands name it by this. */
  number: count,
  text,
  origins: z.array(learningOrigin),
  /** The ids of learnings that it would replace. */
  replaces: z.array(text),
  /** The same learnings with the texts that they have now. */
  replaced: z.array(z.object({ id: text, text })),
  decision: z.enum(['open', 'accepted', 'refused']),
  /** The learning that it became. */
  learning: textOrNone,
});

/** A command that Baton ran in a clean checkout before it was proposed. */
const provenCommand = z.object({
  name: text,
  run: text,
  exit_code: count.nullable(),
  duration_ms: count,
  /** The end of what it printed. */
  output: text,
});

/** What a setup would change in the workflow file. */
const proposedSetup = z.object({
  /** For `workspace.setup`; null: it stays as it is. */
  setup: provenCommand.nullable(),
  /** For `review.checks`. */
  checks: z.array(provenCommand),
  /** For the end of the prompt. */
  notes: text,
  /** The commit that the commands ran on. */
  commit: text,
  /** The content of the workflow file that it was made for. */
  revision: text,
});

/** Work of an agent that is not about an issue, and what it proposed. */
export const task = z.object({
  id: text,
  kind: z.enum(taskKinds),
  title: text,
  status: z.enum(taskStatuses),
  /** Whether an agent works on it now. */
  is_running: z.boolean(),
  /** Why no agent works on it yet; null: it does not wait, or no daemon runs that knows why. */
  waits_for: reason.nullable(),
  author,
  created_at: time,
  changed_at: time,
  error: z.object({ code: text, message: text }).nullable(),
  /** How many proposals wait for a decision. */
  open: count,
});

export const taskDetail = task.extend({
  text,
  issues: z.array(proposedIssue),
  /** Only of a learner. */
  learnings: z.array(proposedLearning),
  /** Only of a setup. */
  setup: proposedSetup.nullable(),
});

export const taskList = z.object({ tasks: z.array(task) });

export type Task = z.infer<typeof task>;
export type TaskDetail = z.infer<typeof taskDetail>;
export type ProposedSetup = z.infer<typeof proposedSetup>;
