import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import * as z from 'zod';

/**
 * What the scripted agent remembers of a conversation: its script and its position. Like a real agent it keeps this in the
 * folder of its account, which the variable below names. Without such a folder the memory ends with the process, and no
 * thread can be continued.
 *
 * What must hold: a later process does not repeat a finished step; it repeats only the step during which the process
 * died. The file on disk is a complete memory at every moment.
 */
export interface Memory {
  readonly threadId: string;
  /** Whether the requested thread continues. */
  readonly isResumed: boolean;
  /** Whether a later process can read it. */
  readonly lasts: boolean;
  place: Place;
  keep(place: Place): void;
}

export type Place = z.infer<typeof placeSchema>;

const placeSchema = z.object({
  script: z.string().nullable(),
  /** The turn and the step in it that come next. */
  turn: z.int().min(0),
  step: z.int().min(0),
  /** How often that step has ended a turn. */
  times: z.int().min(0),
});

export const rehearsalHome = 'BATON_REHEARSAL_HOME';

/** The place in a new thread. */
export const beginning: Place = { script: null, turn: 0, step: 0, times: 0 };

/** Opens the memory of this thread, or of a new thread when this one is not known. */
export function openMemory(home: string | undefined, wantedId: string | null, newId: string): Memory {
  const known = home === undefined || wantedId === null ? null : recall(home, wantedId);
  const threadId = known === null || wantedId === null ? newId : wantedId;
  return {
    threadId,
    isResumed: known !== null,
    lasts: home !== undefined,
    place: known ?? beginning,
    keep(place) {
      this.place = place;
      if (home !== undefined) write(home, threadId, place);
    },
  };
}

function recall(home: string, threadId: string): Place | null {
  // The id becomes the name of a file.
  if (!/^[0-9a-f-]{36}$/.test(threadId)) return null;
  try {
    const parsed = placeSchema.safeParse(JSON.parse(readFileSync(fileOf(home, threadId), 'utf8')));
    return parsed.success ? parsed.data : null;
  } catch {
    return null;
  }
}

function write(home: string, threadId: string, place: Place): void {
  const file = fileOf(home, threadId);
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(`${file}.new`, JSON.stringify(place), { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

function fileOf(home: string, threadId: string): string {
  return path.join(home, 'threads', `${threadId}.json`);
}
