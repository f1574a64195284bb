import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import type { Row } from './store-file.ts';

/** An entry of an agent in the journal: `start`, `work`, `end`, or `overlap` if another agent of its issue was alive. */
export interface JournalLine {
  readonly act: string;
  readonly issue: string;
  readonly runId: string;
}

/** Creates the folder with the program that agents call. */
export function layOutJournal(folder: string): void {
  mkdirSync(folder, { recursive: true });
  copyFileSync(fileURLToPath(new URL('./journal-agent.sh', import.meta.url)), path.join(folder, 'agent.sh'));
}

export function readJournal(folder: string): JournalLine[] {
  const file = path.join(folder, 'journal');
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  return lines.map((line) => {
    const [act = '', issue = '', runId = ''] = line.split(' ');
    return { act, issue, runId };
  });
}

/**
 * Each run started at most once, is in the store and never overlapped with another run of its issue; the work on each issue was done
 * exactly once; and the files that an agent wrote before a kill are still in the workspace.
 */
export function checkJournal(
  { agents, workspaces }: { readonly agents: string; readonly workspaces: string },
  runs: readonly Row[],
): void {
  const lines = readJournal(agents);
  expect(lines.filter(({ act }) => act === 'overlap')).toEqual([]);
  const starts = lines.filter(({ act }) => act === 'start');
  const started = starts.map(({ runId }) => runId);
  expect(new Set(started).size).toBe(started.length);
  expect(runs.map((run) => run.run_id)).toEqual(expect.arrayContaining(started));
  const issues = [...new Set(starts.map(({ issue }) => issue))];
  const worked = lines.filter(({ act }) => act === 'work').map(({ issue }) => issue);
  expect(worked.toSorted()).toEqual(issues.toSorted());
  for (const { issue, runId } of starts) {
    expect(readFileSync(path.join(workspaces, issue, 'kept.txt'), 'utf8')).toContain(runId);
  }
}
