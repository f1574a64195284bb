import type { RunEvent } from '../../../src/client/schema/run.ts';
import { type Problem, projectPath, read } from '../connection/api.ts';
import { viewOf } from './transcript-kinds.ts';
import type { EventPage } from './transcript-log.ts';

/** No run has more events in the store; a page of whole events has 200. */
const mostPages = 400;

/** Every event of a run, whole; or why they could not be read. */
export async function readLog(project: string, runId: string): Promise<readonly RunEvent[] | Problem> {
  const events: RunEvent[] = [];
  let after = 0;
  for (let pages = 0; pages < mostPages; pages += 1) {
    const query = new URLSearchParams({ after: String(after), limit: '200', whole: '1' });
    const answer = await read<EventPage>(`${projectPath(project, 'runs', runId, 'events')}?${query}`);
    if ('problem' in answer) return answer.problem;
    events.push(...answer.value.events);
    if (!answer.value.has_more || answer.value.after <= after) break;
    after = answer.value.after;
  }
  return events;
}

/** The events as lines for people: the time, the kind, what was said; then what belongs to it, indented. */
export function logText(events: readonly RunEvent[]): string {
  return events
    .map((event) => {
      const { text, detail, kind } = viewOf(event);
      const more = detail === null ? '' : `\n${detail.replace(/^/gmu, '    ')}`;
      return `${event.at} ${kind} ${text}${more}\n`;
    })
    .join('');
}

/** The events as the daemon has them, one JSON object a line. */
export function logLines(events: readonly RunEvent[]): string {
  return events.map((event) => `${JSON.stringify(event)}\n`).join('');
}
