// A program for the test of the journal's memory: `node --expose-gc journal-flood.ts FOLDER EVENTS` sends so many events
// through a journal, files and an SQLite store in the folder, as fast as an agent's output can be read, and says as JSON
// how large the heap was after the first tenth and at the end.
import path from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import type { AgentEvent } from '../../src/agent/agent.ts';
import { systemClock } from '../../src/clock/system-clock.ts';
import { Journal } from '../../src/orchestrator/runs/journal.ts';
import { openStore } from '../../src/store/open-store.ts';
import { transcriptFiles } from '../../src/store/transcripts/transcript-files.ts';
import { memoryLogger } from '../fake/memory-logger.ts';

const [folder = '', count = '0'] = process.argv.slice(2);
const events = Number(count);
/** About what one read of a pipe gives. */
const eventsARead = 400;

const store = await openStore({ url: `sqlite:${path.join(folder, 'baton.db')}`, clock: systemClock, mode: 'daemon' });
await store.runs.start({
  runId: 'r1',
  project: 'p',
  issueId: 'i1',
  identifier: 'BAT-1',
  generation: 1,
  role: 'worker',
  attempt: null,
  retryKind: null,
  backend: 'rehearsal',
  account: null,
  host: 'here',
  startedAt: 0,
});
const logger = memoryLogger();
const transcripts = transcriptFiles(path.join(folder, 'transcripts'));
const stopping = new AbortController().signal;
const journal = new Journal({ store, transcripts, clock: systemClock, logger, stopping });
journal.runStarts('r1', 1);

let early = 0;
for (let sent = 0; sent < events; sent += 1) {
  const usage = { inputTokens: sent, outputTokens: sent, totalTokens: 2 * sent };
  const event: AgentEvent = { name: 'notification', at: sent, pid: 1, summary: `event ${sent}`, usage };
  journal.note('r1', usage, { ...event, payload: { method: 'item/updated', params: { text: 'x'.repeat(40), sent } } });
  if (sent % eventsARead === 0) await turn();
  // The beginning and the end are looked at: what is in between may be dropped where the disk is slow.
  const isLookedAt = sent < 60_000 || sent >= events - 20_000;
  if (isLookedAt && sent % 4_000 === 0) await journal.flush();
  if (sent === events / 10) early = heap();
}
const notes = await journal.takeNotes('r1');
await store.transaction((tables) => notes.write(tables));
notes.written();
const late = heap();
process.stdout.write(
  JSON.stringify({ early, late, peakRss: process.resourceUsage().maxRSS * 1024, logged: logger.lines.length }),
);
await store.close();

function heap(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}
