import { effect } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { type Problem, projectPath, read } from '../connection/api.ts';
import { onStreamEvent } from '../connection/live.ts';
import { link, watchRun } from '../connection/stream.ts';
import { later } from '../page/clock.ts';
import {
  type EventPage,
  type EventSource,
  type LogListener,
  type LogStart,
  openTranscript,
  type TranscriptLog,
} from './transcript-log.ts';

export type RunLog = TranscriptLog<Problem>;

interface RunLogParts {
  readonly project: string;
  readonly runId: string;
  readonly start: LogStart;
  /** Whether more may come: then the stream is asked for it. */
  readonly isLive: boolean;
  /** With all that happened; then fewer come at once. */
  readonly isWhole: boolean;
  readonly most: number;
}

/**
 * The events of a run, while the component is mounted. Their start, and whether they continue, is decided once: a run
 * that ends meanwhile is read to its end, and the reader stays in their place.
 */
export function useRunLog(parts: RunLogParts): RunLog {
  const { project, runId, isLive } = parts;
  const log = useMemo(
    () => openTranscript({ source: sourceOf(parts), start: parts.start, most: parts.most }),
    [project, runId],
  );
  useEffect(() => log.close, [log]);
  useEffect(() => {
    if (!isLive && !log.hasLater.peek() && log.events.peek().length > 0) void log.readLater();
  }, [log, isLive]);
  return log;
}

function sourceOf({ project, runId, isLive, isWhole }: RunLogParts): EventSource<Problem> {
  return {
    page: ({ after, isBackwards = false }, signal) => {
      const query = new URLSearchParams({
        limit: isWhole ? '200' : '1000',
        ...(isWhole ? { whole: '1' } : {}),
        ...(isBackwards ? { direction: 'backwards' } : {}),
        ...(after === undefined ? {} : { after: String(after) }),
      });
      return read<EventPage>(`${projectPath(project, 'runs', runId, 'events')}?${query}`, signal);
    },
    listen: isLive ? (listener) => listen(project, runId, listener) : null,
    later,
    isWhole,
  };
}

function listen(project: string, runId: string, { events, connected }: LogListener): () => void {
  const ends = [
    watchRun(project, runId),
    onStreamEvent((event) => {
      if (event.name !== 'run_events') return;
      if (event.data.project === project && event.data.run_id === runId) events(event.data.events, event.data.after);
    }),
    effect(() => {
      if (link.value.is === 'open') connected();
    }),
  ];
  return () => {
    for (const end of ends) end();
  };
}
