import type { VNode } from 'preact';
import { useEffect } from 'preact/hooks';
import type { Run } from '../../../src/client/schema/run.ts';
import { queryWord, setQuery } from '../../data/page/router.ts';
import { clockWords } from '../../data/text/words.ts';
import { attemptWords, outcomeOf } from '../run/run-words.ts';
import { Transcript } from '../run/transcript.tsx';
import { EmptyLine } from '../shared/empty-line.tsx';

interface IssueTranscriptProps {
  readonly project: string;
  /** The newest first. */
  readonly runs: readonly Run[];
  /** The button that reads older runs; null if there are none left. */
  readonly more: VNode | null;
}

/**
 * The transcripts of an issue's agents, run by run. The address names the shown run, and it stays when another one
 * begins: only the reader changes it.
 */
export function IssueTranscript({ project, runs, more }: IssueTranscriptProps): VNode {
  const wanted = queryWord('run');
  const newest = runs[0];
  const runId = wanted === '' ? (newest?.run_id ?? null) : wanted;
  useEffect(() => {
    if (wanted === '' && runId !== null) setQuery({ run: runId });
  }, [wanted, runId]);
  if (runId === null || newest === undefined) return <EmptyLine>No runs yet, so there is no transcript.</EmptyLine>;
  const read = runs.find(({ run_id }) => run_id === runId);
  return (
    <>
      {(runs.length > 1 || read === undefined) && (
        <div class="run-choice">
          <select
            aria-label="Run"
            value={runId}
            onChange={({ currentTarget }) => setQuery({ run: currentTarget.value })}
          >
            {runs.map((run) => (
              <option key={run.run_id} value={run.run_id}>
                {runWords(run)}
              </option>
            ))}
            {read === undefined && <option value={runId}>an older run</option>}
          </select>
          {more}
          {runId !== newest.run_id && (
            <output>
              {newest.outcome === null ? 'A newer run has started: ' : 'There is a newer run: '}
              <button type="button" data-part="newest_run" onClick={() => setQuery({ run: newest.run_id })}>
                Show it
              </button>
            </output>
          )}
        </div>
      )}
      <Transcript key={runId} project={project} runId={runId} isLive={read !== undefined && read.outcome === null} />
    </>
  );
}

/** `retry 2, 14:03: failed`. */
function runWords(run: Run): string {
  const at = new Date(run.started_at);
  return `${attemptWords(run)}, ${clockWords(at.getTime())}: ${outcomeOf(run).word}`;
}
