import type { TrackerAdapter } from './adapter.ts';
import { boardAdapter } from './board/board-adapter.ts';
import { linearAdapter } from './linear/linear-adapter.ts';
import { memoryAdapter } from './memory/memory-adapter.ts';

/** The trackers that a workflow file may name, one line each. `baton init` offers the first unless asked otherwise. */
export const trackerAdapters: readonly TrackerAdapter[] = [boardAdapter, linearAdapter, memoryAdapter];
