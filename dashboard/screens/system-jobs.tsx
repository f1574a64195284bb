import type { VNode } from 'preact';
import type { Job, OwnedJob } from '../../src/client/schema/system.ts';
import { projectPath } from '../data/connection/api.ts';
import { useInterval } from '../data/connection/interval.ts';
import { useResource } from '../data/connection/resource.ts';
import { durationWords, plainWords, sentences } from '../data/text/words.ts';
import { EmptyLine } from '../parts/shared/empty-line.tsx';
import { ProblemLine } from '../parts/shared/problem-line.tsx';
import { Status } from '../parts/shared/status.tsx';
import { Table } from '../parts/shared/table.tsx';
import { Text } from '../parts/shared/text.tsx';
import { Countdown, TimeAgo } from '../parts/shared/time.tsx';

const againMs = 5_000;
/** Shorter delays are normal on a busy machine and are not shown. */
const noticeableMs = 1_000;

/** The recurring jobs of Baton. */
export function SystemJobs({ project }: { readonly project: string }): VNode {
  const { resource, reload } = useResource<{ readonly jobs: readonly OwnedJob[] }>(projectPath(project, 'jobs'));
  useInterval(againMs, reload);
  const { value, problem } = resource.value;
  return (
    <>
      {problem !== null && <ProblemLine problem={problem} />}
      {value === null && problem === null && <EmptyLine isAsking>Loading the jobs.</EmptyLine>}
      {value !== null && (
        <Table
          caption={`Jobs of ${project}`}
          rows={value.jobs}
          keyOf={({ name }) => name}
          toneOf={({ outcome, is_running }) => (outcome === 'failed' ? 'broken' : is_running ? 'running' : null)}
          columns={[
            {
              label: 'Job',
              isWide: true,
              cell: ({ name, description }) => (
                <div>
                  {plainWords(name)}
                  <br />
                  <small>{sentences(description.replaceAll('`', ''))}</small>
                </div>
              ),
            },
            { label: 'Where', cell: ({ kind }) => kind },
            {
              label: 'Every',
              isNumber: true,
              cell: ({ interval_ms }) =>
                interval_ms === null ? <span class="none">–</span> : durationWords(interval_ms),
            },
            { label: 'Last', cell: ({ last_run_at }) => <TimeAgo at={last_run_at} /> },
            { label: 'Outcome', cell: (job) => <Outcome job={job} /> },
            {
              label: 'Late',
              isNumber: true,
              cell: ({ late_ms }) =>
                late_ms < noticeableMs ? (
                  <span class="none">–</span>
                ) : (
                  <span class="high">{durationWords(late_ms)}</span>
                ),
            },
            { label: 'Next', cell: ({ next_due_at }) => <Countdown at={next_due_at} /> },
          ]}
        />
      )}
    </>
  );
}

function Outcome({ job: { outcome, is_running, duration_ms, failures, error } }: { readonly job: Job }): VNode {
  if (is_running) return <Status tone="running" word="running" />;
  if (outcome === null) return <span class="none">not run yet</span>;
  if (outcome === 'ok') {
    return <span>ok {duration_ms !== null && <small>took {Math.round(duration_ms)} ms</small>}</span>;
  }
  return (
    <span>
      <Status tone="broken" word={failures > 1 ? `failed ${failures}×` : 'failed'} />{' '}
      {error !== null && <Text text={error} />}
    </span>
  );
}
