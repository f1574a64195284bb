import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { answer } from '../cli/live-daemon.ts';
import { Place } from '../cli/run-baton.ts';
import { storeFile } from './store-file.ts';

/** Where the program of the agents is, seen from any workspace of a scene. */
const program = '../../agents/agent.sh';

/** The description of an issue whose agent keeps the journal of `journal-agent.sh`, works for a moment and hands over. */
export function workScript(workMs = 300, handOver = 'review'): string {
  const steps = [
    `run sh ${program} begin`,
    'say at work',
    `wait ${workMs}`,
    `run sh ${program} work`,
    `move ${handOver}`,
  ];
  return ['```rehearsal', ...steps, '```'].join('\n');
}

/** Like `workScript`, but the agent works until the file `go` is next to the program of the agents. */
export function gatedScript(): string {
  return workScript().replace(/^wait \d+$/m, `run sh ${program} wait`);
}

/** Files one issue per description, in order: BAT-1, BAT-2, … */
export async function fileIssues(place: Place, descriptions: readonly string[]): Promise<void> {
  const lines = descriptions.map((description, at) => JSON.stringify({ title: `Issue ${at}`, description }));
  place.write('issues.jsonl', lines.join('\n'));
  await answer(place, 'issue', 'import', 'issues.jsonl');
}

const made = new Map<string, Promise<Buffer>>();

/** Like `fileIssues`, but equal issues are filed once per test run, and later the store is copied. */
export async function copyIssues(place: Place, workflow: string, descriptions: readonly string[]): Promise<void> {
  const key = JSON.stringify([workflow, descriptions]);
  const store = made.get(key) ?? makeStore(workflow, descriptions);
  made.set(key, store);
  mkdirSync(path.dirname(storeFile(place)), { recursive: true, mode: 0o700 });
  writeFileSync(storeFile(place), await store, { mode: 0o600 });
}

async function makeStore(workflow: string, descriptions: readonly string[]): Promise<Buffer> {
  using place = new Place();
  place.write('WORKFLOW.md', workflow);
  await fileIssues(place, descriptions);
  return readFileSync(storeFile(place));
}
