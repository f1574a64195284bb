import * as z from 'zod';
import { author, issueName, text, textOrNone, time, timeOrNone } from './common.ts';

export const question = issueName.extend({
  id: text,
  run_id: text,
  kind: z.enum(['command', 'file_change', 'permission', 'tool', 'input']),
  text,
  /** What a person has to know to answer; several lines, or empty. */
  detail: text,
  fields: z.array(
    z.object({
      name: text,
      label: text,
      options: z.array(text),
      allows_other: z.boolean(),
      /** Cannot be answered through Baton, which would store the answer. */
      is_secret: z.boolean(),
    }),
  ),
  asked_at: time,
  /** Open: waits for an answer. */
  state: z.enum(['open', 'answered', 'closed']),
  /**
   * The state in more detail. `agent_waits`: its agent is alive and waits until `waits_until`. `run_ended`: an answer
   * lets the issue continue. `unattended`: its run has not ended and no agent waits; an answer is kept for the next
   * run.
   */
  standing: z.enum(['agent_waits', 'run_ended', 'unattended', 'answered', 'closed']),
  /** Until when a live agent waits; null when none does, and the answer is for the next run. */
  waits_until: timeOrNone,
  answer: z
    .object({ decision: text, values: z.record(text, text), at: time, author, delivered_to: textOrNone })
    .nullable(),
  closed_at: timeOrNone,
});

export const questionAnswer = z.object({ question });
export const questionList = z.object({ questions: z.array(question) });

export type Question = z.output<typeof question>;
