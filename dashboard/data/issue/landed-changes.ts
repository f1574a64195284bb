import { effect, signal } from '@preact/signals';
import type { FinishedRow } from '../../../src/client/schema/now.ts';
import type { Pull } from '../../../src/client/schema/pull.ts';
import type { Diff } from '../../../src/client/schema/run.ts';
import { projectPath, read } from '../connection/api.ts';
import { finished, type Placed } from '../connection/live.ts';

/** The change of a finished issue, as its row shows it. */
export interface LandedChange {
  readonly pull: number;
  /** Null while it is being read, or when the daemon cannot read it any more. */
  readonly size: { readonly added: number; readonly removed: number } | null;
}

/**
 * The changes of the issues that finished today, by `project/issue`. What must hold: a change is read once, one after
 * another, and only for the latest rows, because the daemon compares files for each.
 */
const known = signal<ReadonlyMap<string, LandedChange>>(new Map());
const asked = new Set<string>();
const mostRead = 20;
/** The newest pull requests; one request for all rows. */
const listed = 100;
let isReading = false;

export function landedChange(project: string, issueId: string): LandedChange | null {
  return known.value.get(`${project}/${issueId}`) ?? null;
}

/** Reads the changes while the Now screen is open. The returned function ends that. */
export function followLanded(): () => void {
  return effect(() => {
    const unread = latest(finished.value).filter((placed) => !asked.has(nameOf(placed)));
    if (unread.length > 0 && !isReading) void readAll(unread);
  });
}

async function readAll(rows: readonly Placed<FinishedRow>[]): Promise<void> {
  isReading = true;
  for (const placed of rows) asked.add(nameOf(placed));
  const projects = new Set(rows.map(({ project }) => project));
  for (const project of projects) {
    const answer = await read<{ readonly pulls: readonly Pull[] }>(
      `${projectPath(project, 'pulls')}?status=all&limit=${listed}`,
    );
    if ('problem' in answer) continue;
    const pulls = new Map(answer.value.pulls.toReversed().map(({ issue_id, number }) => [issue_id, number]));
    for (const placed of rows.filter((each) => each.project === project)) {
      const pull = pulls.get(placed.row.issue_id);
      if (pull === undefined) continue;
      const keep = (size: LandedChange['size']): void => {
        known.value = new Map(known.peek()).set(nameOf(placed), { pull, size });
      };
      keep(null);
      const diff = await read<Diff>(projectPath(project, 'pulls', String(pull), 'diff'));
      if ('value' in diff && diff.value.why_none === null) keep(sizeOf(diff.value));
    }
  }
  isReading = false;
  // Issues that finished meanwhile.
  const unread = latest(finished.peek()).filter((placed) => !asked.has(nameOf(placed)));
  if (unread.length > 0) void readAll(unread);
}

function latest(rows: readonly Placed<FinishedRow>[]): readonly Placed<FinishedRow>[] {
  return rows.toSorted((a, b) => ((a.row.at ?? '') < (b.row.at ?? '') ? 1 : -1)).slice(0, mostRead);
}

function nameOf({ project, row }: Placed<FinishedRow>): string {
  return `${project}/${row.issue_id}`;
}

function sizeOf({ files }: Diff): LandedChange['size'] {
  const sum = (of: (file: Diff['files'][number]) => number | null): number =>
    files.reduce((total, file) => total + (of(file) ?? 0), 0);
  return { added: sum(({ added }) => added), removed: sum(({ removed }) => removed) };
}
