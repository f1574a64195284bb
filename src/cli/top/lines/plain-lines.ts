import type { Now } from '../../../client/schema/now.ts';
import { cellText, reasonText } from '../../cell-text.ts';
import { pauseOrResume } from '../top-state.ts';
import { ageOf, needsYouText, timeOfDay } from './short-text.ts';
import { isOf, type TopRow, topRows } from './top-rows.ts';

/**
 * For pipes and files, without escapes: one line for each row that begins to need a person, for each run that starts or
 * ends, and whenever a project stops or continues. The rows of the first state get a line as well.
 */
export function plainLines(): (nows: readonly Now[], at: number) => readonly string[] {
  let before: readonly TopRow[] = [];
  let stopped: ReadonlyMap<string, string> = new Map();
  return (nows, at) => {
    const rows = topRows(nows, '');
    const hasProjects = nows.length > 1;
    const line = ({ project, identifier }: Pick<TopRow, 'project' | 'identifier'>, text: string): string => {
      const name = [...(hasProjects ? [cellText(project)] : []), ...(identifier === '' ? [] : [identifier])].join(' ');
      return `${timeOfDay(at)} ${name === '' ? '' : `${name} `}${text}`;
    };
    const known = new Set(before.map(nameOf));
    const present = new Set(rows.map(nameOf));
    // Ended runs come before those that start in their place.
    const ended = before.filter((row) => row.list === 'running' && !present.has(nameOf(row)));
    const begun = rows.filter((row) => !known.has(nameOf(row)));
    const stops = new Map(nows.map((now) => [now.project, stopText(now)]));
    const lines = [
      ...nows.flatMap(({ project }) => {
        const [was = '', is = ''] = [stopped.get(project), stops.get(project)];
        // A stop by a limit is already among the rows that need a person.
        return was === is || is === limitStop ? [] : [line({ project, identifier: '' }, is === '' ? 'goes on' : is)];
      }),
      ...ended.map((row) => line(row, endText(row, rows, at))),
      ...begun.flatMap((row) => {
        const text = beginText(row);
        return text === null ? [] : [line(row, text)];
      }),
    ];
    before = rows;
    stopped = stops;
    return lines;
  };
}

const limitStop = 'limit';

/** What keeps a project from starting anything; empty when nothing does. */
function stopText(now: Now): string {
  const { paused } = now.vitals;
  if (paused === null) return pauseOrResume(now) === 'resume' ? limitStop : '';
  const why = paused.reason === null ? '' : `: ${reasonText(paused.reason)}`;
  return paused.kind === 'pause' ? `paused${why}` : `draining, ends with the last run${why}`;
}

/** Another id makes another run; another kind or reason makes another row that needs a person. */
function nameOf({ key, list, of }: TopRow): string {
  if (list === 'running') return `${key}\n${of.run_id}`;
  return list === 'needs_you' ? `${key}\n${of.kind}\n${of.reason}` : key;
}

function beginText(row: TopRow): string | null {
  if (row.list === 'needs_you') return `needs you (${row.of.kind}): ${needsYouText(row.of)}`;
  if (row.list !== 'running') return null;
  const { attempt, title } = row.of;
  const again = attempt === null || attempt === 0 ? '' : ` (retry ${attempt})`;
  return `started${again}${title === null ? '' : `: ${cellText(title)}`}`;
}

function endText(run: TopRow, rows: readonly TopRow[], at: number): string {
  const age = run.list === 'running' ? ageOf(run.of.started_at, at) : null;
  const after = age === null ? '' : ` after ${age}`;
  const next = rows.filter((row) => isOf(row, run));
  for (const row of next) {
    if (row.list === 'finished') return `ended${after}: finished (${cellText(row.of.state)})`;
    if (row.list === 'waiting') return `ended${after}: waits, ${reasonText(row.of.reason)}`;
    if (row.list === 'needs_you') return `ended${after}: needs you`;
  }
  return `ended${after}`;
}
