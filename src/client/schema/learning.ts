import * as z from 'zod';
import { learningStatuses } from '../../core/learning/learning.ts';
import { lessonKinds } from '../../core/learning/lesson.ts';
import { author, text, time } from './common.ts';
import { share } from './prompt.ts';

export const learningOrigin = z.object({ kind: z.enum(lessonKinds), issue: text, at: time });

export const learning = z.object({
  id: text,
  text,
  status: z.enum(learningStatuses),
  /** What taught it; empty: a person wrote it. */
  origins: z.array(learningOrigin),
  author,
  created_at: time,
  /** When its status or its text changed last. */
  changed_at: time,
  /** Issues whose work came back since the trial began; null unless it is on trial. */
  trial: z.object({ sent_back_with: share, sent_back_without: share }).nullable(),
});

/** The newest first. */
export const learningList = z.object({
  learnings: z.array(learning),
  /** How many issues with and without a learning its trial needs; 0: there is none. */
  trial_issues: z.int(),
});

export type Learning = z.infer<typeof learning>;
export type LearningList = z.infer<typeof learningList>;
