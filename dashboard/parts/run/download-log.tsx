import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { saveFile } from '../../data/page/save-file.ts';
import { logLines, logText, readLog } from '../../data/run/read-log.ts';
import { hint } from '../shared/tooltip.tsx';

interface DownloadLogProps {
  readonly project: string;
  readonly runId: string;
}

/** Saves every event of a run as a file: as text for people, or as the daemon has it. */
export function DownloadLog({ project, runId }: DownloadLogProps): VNode {
  const state = useSignal<'ready' | 'reading' | 'failed'>('ready');
  const save = async (isText: boolean): Promise<void> => {
    if (state.peek() === 'reading') return;
    state.value = 'reading';
    const events = await readLog(project, runId);
    state.value = 'message' in events ? 'failed' : 'ready';
    if ('message' in events) return;
    const file = `run-${runId.slice(0, 8)}`;
    if (isText) saveFile(`${file}.log`, 'text/plain', logText(events));
    else saveFile(`${file}.jsonl`, 'application/x-ndjson', logLines(events));
  };
  return (
    <span class="download">
      <button
        type="button"
        class="quiet"
        data-part="download_log"
        {...hint('Save every event of the run as text')}
        onClick={() => void save(true)}
      >
        {state.value === 'reading'
          ? 'Reading…'
          : state.value === 'failed'
            ? 'Could not read it. Try again'
            : 'Download log'}
      </button>
      <button
        type="button"
        class="quiet"
        data-part="download_json"
        aria-label="Download the log as JSON"
        {...hint('Save every event with its data, one JSON object per line')}
        onClick={() => void save(false)}
      >
        JSON
      </button>
    </span>
  );
}
