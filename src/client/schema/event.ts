import { z } from 'zod';
import { count, text, time } from './common.ts';
import { now, rowLists, vitals } from './now.ts';
import { runEvent } from './run.ts';

/**
 * What `GET /api/v1/events` sends, each with an id that `Last-Event-ID` takes up again:
 *
 * - `snapshot`: everything, of every project; first, and again whenever what came before cannot be replayed.
 * - `patch`: rows that are new or changed, and keys of those that are gone. Applied in order they give the next snapshot.
 * - `run_events`: what happened in a run; only to those who asked for that run.
 * - `issue_changed`: something about an issue changed that is not in a row, such as its history.
 */
export const patch = z.object({
  project: text,
  at: time,
  vitals: vitals.optional(),
  set: z.partialRecord(z.enum(rowLists), z.array(z.looseObject({ key: text }))),
  drop: z.partialRecord(z.enum(rowLists), z.array(text)),
});

export const streamEvents = {
  snapshot: z.object({ projects: z.array(now) }),
  patch,
  run_events: z.object({ project: text, run_id: text, events: z.array(runEvent), after: count }),
  issue_changed: z.object({ project: text, issue_id: text, issue_identifier: text }),
} as const;

export type StreamEventName = keyof typeof streamEvents;
export type Patch = z.output<typeof patch>;
export type StreamEvent = {
  [N in StreamEventName]: { readonly name: N; readonly data: z.output<(typeof streamEvents)[N]> };
}[StreamEventName];
