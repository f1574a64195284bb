import * as z from 'zod';
import { count, text, time } from './common.ts';
import { now, rowLists, vitals } from './now.ts';
import { runEvent } from './run.ts';

/**
 * What `GET /api/v1/events` sends, each with an id from which `Last-Event-ID` continues:
 *
 * - `snapshot`: the state of every project; sent first, and again whenever earlier events cannot be replayed.
 * - `patch`: new or changed rows, and the keys of removed ones. Patches applied in order result in the next snapshot.
 * - `run_events`: the events of a run; only for listeners that asked for that run.
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
