import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { answer } from '../cli/live-daemon.ts';
import { Place } from '../cli/run-baton.ts';
import { storeFile } from './store-file.ts';

/** Where the program of the agents is, seen from any workspace of a scene. */
const program = '../../agents/agent.sh';

/** The description of an issue whose agent keeps the journal of `journal-agent.sh`, works for a moment and hands over. */
export function workedTicket(workMs = 300): string {
  const steps = [`run sh ${program} begin`, 'say at work', `wait ${workMs}`, `run sh ${program} work`, 'move review'];
  return ['```rehearsal', ...steps, '```'].join('\n');
}

/** Files one issue a description, in their order: BAT-1, BAT-2, … */
export async function fileTickets(place: Place, descriptions: readonly string[]): Promise<void> {
  const lines = descriptions.map((description, at) => JSON.stringify({ title: `Ticket ${at}`, description }));
  place.write('tickets.jsonl', lines.join('\n'));
  await answer(place, 'issue', 'import', 'tickets.jsonl');
}

const made = new Map<number, Promise<Buffer>>();

/** As `fileTickets` with so many worked tickets; filed once a test run, and the store copied from then on. */
export async function copyTickets(place: Place, workflow: string, count: number): Promise<void> {
  const store = made.get(count) ?? makeStore(workflow, count);
  made.set(count, store);
  mkdirSync(path.dirname(storeFile(place)), { recursive: true, mode: 0o700 });
  writeFileSync(storeFile(place), await store, { mode: 0o600 });
}

async function makeStore(workflow: string, count: number): Promise<Buffer> {
  using place = new Place();
  place.write('WORKFLOW.md', workflow);
  await fileTickets(place, Array(count).fill(workedTicket()));
  return readFileSync(storeFile(place));
}
