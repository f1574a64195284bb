import type { VNode } from 'preact';
import type { RequestReport } from '../../src/client/schema/system.ts';
import { harmlessLine } from '../../src/core/text/harmless-line.ts';
import { projectPath } from '../data/connection/api.ts';
import { useInterval } from '../data/connection/interval.ts';
import { useResource } from '../data/connection/resource.ts';
import { linkTo, place, queryWord } from '../data/page/router.ts';
import { durationWords, plainWords, sentences } from '../data/text/words.ts';
import { EmptyLine } from '../parts/shared/empty-line.tsx';
import { ProblemLine } from '../parts/shared/problem-line.tsx';
import { QuotaBar } from '../parts/shared/quota-bar.tsx';
import { Table } from '../parts/shared/table.tsx';
import { Text } from '../parts/shared/text.tsx';
import { Countdown } from '../parts/shared/time.tsx';

const againMs = 10_000;
const choices: readonly (readonly [hours: string, label: string])[] = [
  ['1', 'last hour'],
  ['24', 'last day'],
  ['168', 'last week'],
];

/** The requests to remote services, what sent them, and how many are left. */
export function SystemRequests({ project }: { readonly project: string }): VNode {
  const wanted = queryWord('hours');
  const [hours] = choices.find(([each]) => each === wanted) ?? (['24'] as const);
  const path = `${projectPath(project, 'requests')}?hours=${hours}`;
  const { resource, reload } = useResource<RequestReport>(path);
  useInterval(againMs, reload);
  const { value, problem } = resource.value;
  return (
    <>
      {problem !== null && <ProblemLine problem={problem} />}
      {value === null && problem === null && <EmptyLine isAsking>Loading the requests.</EmptyLine>}
      {value?.providers.map((provider) => (
        <Provider key={provider.provider} provider={provider} />
      ))}
      {value?.providers.length === 0 && <EmptyLine>Baton sends requests to no remote service.</EmptyLine>}
      <section class="band">
        <header class="band-head">
          <h2>What sent requests</h2>
          <nav class="range" aria-label={`Time range of the requests of ${harmlessLine(project)}`}>
            {choices.map(([each, label]) => (
              <a
                key={each}
                href={linkTo(place.value.path, { ...Object.fromEntries(place.value.query), hours: each })}
                aria-current={each === hours ? 'true' : undefined}
              >
                {label}
              </a>
            ))}
          </nav>
        </header>
        {value !== null && <Spenders spenders={value.spenders} />}
      </section>
    </>
  );
}

type ProviderFacts = RequestReport['providers'][number];

function Provider({ provider: facts }: { readonly provider: ProviderFacts }): VNode {
  const { provider, last_hour, today, rate_per_hour, projected_today, step, text, until, windows } = facts;
  const isFree = step === 'free';
  return (
    <section class={`band provider tone ${isFree ? '' : 'needs'}`}>
      <h2>
        <Text text={provider} />
      </h2>
      <p>
        <strong class="number">{last_hour.toLocaleString()}</strong> requests in the last hour,{' '}
        <strong class="number">{today.toLocaleString()}</strong> today; at {Math.round(rate_per_hour).toLocaleString()}{' '}
        an hour it will be <strong class="number">{Math.round(projected_today).toLocaleString()}</strong> by the end of
        the day.
      </p>
      <p class={isFree ? 'quiet-text' : 'high'}>
        {!isFree && <strong>{plainWords(step)}: </strong>}
        <Text text={text === '' && isFree ? 'No limit is near.' : sentences(text)} />
        {until !== null && (
          <>
            {' '}
            It ends <Countdown at={until} />.
          </>
        )}
      </p>
      {windows.length > 0 && (
        <ul class="quota-bars">
          {windows.map(({ name, source, limit, used, reset_at }) => (
            <QuotaBar
              key={`${name} ${source}`}
              name={`${plainWords(name)}, ${plainWords(source)}`}
              used={limit > 0 ? (used / limit) * 100 : 100}
              amount={`${used.toLocaleString()} of ${limit.toLocaleString()}`}
              resetsAt={reset_at}
            />
          ))}
        </ul>
      )}
    </section>
  );
}

function Spenders({ spenders }: { readonly spenders: RequestReport['spenders'] }): VNode {
  if (spenders.length === 0) return <EmptyLine>No requests in this time.</EmptyLine>;
  const all = spenders.reduce((sum, { requests }) => sum + requests, 0);
  return (
    <Table
      caption="Requests by job and cause"
      rows={[...spenders].sort((a, b) => b.requests - a.requests)}
      keyOf={({ provider, job, cause, route }) => JSON.stringify([provider, job, cause, route])}
      toneOf={({ failed }) => (failed > 0 ? 'broken' : null)}
      columns={[
        { label: 'Job', cell: ({ job }) => <Text text={plainWords(job)} /> },
        { label: 'Cause', cell: ({ cause }) => <Text text={plainWords(cause)} /> },
        {
          label: 'Route',
          isWide: true,
          cell: ({ provider, route }) => (
            <span>
              <code>
                <Text text={route} />
              </code>{' '}
              <small>
                <Text text={provider} />
              </small>
            </span>
          ),
        },
        {
          label: 'Requests',
          isNumber: true,
          cell: ({ requests }) => (
            <span>
              {requests.toLocaleString()} <small>{all > 0 ? `${Math.round((requests / all) * 100)} %` : ''}</small>
            </span>
          ),
        },
        {
          label: 'Failed',
          isNumber: true,
          cell: ({ failed }) => (failed > 0 ? <span class="ill">{failed}</span> : <span class="none">–</span>),
        },
        { label: 'Bytes', isNumber: true, cell: ({ bytes }) => byteWords(bytes) },
        {
          label: 'Mean time',
          isNumber: true,
          cell: ({ mean_latency_ms: ms }) => (ms < 1_000 ? `${Math.round(ms)} ms` : durationWords(ms)),
        },
      ]}
    />
  );
}

function byteWords(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  return bytes < 1_000_000 ? `${Math.round(bytes / 1_000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
