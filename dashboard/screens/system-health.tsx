import type { ComponentChildren, VNode } from 'preact';
import type { Health, Project } from '../../src/client/schema/system.ts';
import { apiRoot, projectPath } from '../data/connection/api.ts';
import { useInterval } from '../data/connection/interval.ts';
import { useResource } from '../data/connection/resource.ts';
import { countWords, plainWords } from '../data/text/words.ts';
import { IssueLink } from '../parts/issue/issue-link.tsx';
import { EmptyLine } from '../parts/shared/empty-line.tsx';
import { Fact } from '../parts/shared/fact.tsx';
import { MessageList } from '../parts/shared/message-list.tsx';
import { ProblemLine } from '../parts/shared/problem-line.tsx';
import { Table } from '../parts/shared/table.tsx';
import { Text } from '../parts/shared/text.tsx';
import { TimeAgo } from '../parts/shared/time.tsx';

/** No event reports these facts. */
const againMs = 5_000;

/** Whether the daemon is healthy, and if not, why. */
export function SystemHealth({ project }: { readonly project: string }): VNode {
  const { resource, reload } = useResource<Health>(projectPath(project, 'health'));
  useInterval(againMs, reload);
  const { value, problem } = resource.value;
  return (
    <>
      {problem !== null && <ProblemLine problem={problem} />}
      {value === null && problem === null && <EmptyLine isAsking>Loading the health of the daemon.</EmptyLine>}
      {value !== null && (
        <>
          <HealthFacts health={value} />
          <Problems problems={value.problems} />
          {value.findings.length > 0 && <Findings project={project} findings={value.findings} />}
          {value.tick !== null && <TickSteps tick={value.tick} />}
        </>
      )}
      <About project={project} />
    </>
  );
}

function HealthFacts({ health }: { readonly health: Health }): VNode {
  const { is_healthy, version, started_at, tick, loop_delay_ms, memory_mb, store } = health;
  const { p50, p99, max } = loop_delay_ms;
  return (
    <FactList
      facts={[
        { label: 'Health', value: is_healthy ? <span class="well">healthy</span> : <span class="ill">unhealthy</span> },
        {
          label: 'Last tick',
          value:
            tick === null ? (
              'none yet'
            ) : (
              <>
                <TimeAgo at={tick.started_at} /> <small>took {msWords(tick.duration_ms)}</small>
              </>
            ),
        },
        {
          label: 'Loop delay',
          value: (
            <>
              {msWords(p50)}{' '}
              <small>
                p99 {msWords(p99)}, max {msWords(max)}
              </small>
            </>
          ),
        },
        { label: 'Memory', value: <span class="number">{Math.round(memory_mb)} MB</span> },
        { label: 'Store', value: store.engine === 'sqlite' ? 'SQLite' : 'PostgreSQL' },
        { label: 'Started', value: <TimeAgo at={started_at} /> },
        { label: 'Version', value: <Text text={version} /> },
      ]}
    />
  );
}

function Problems({ problems }: { readonly problems: Health['problems'] }): VNode {
  if (problems.length === 0) return <EmptyLine>No problems.</EmptyLine>;
  return <MessageList said={problems} tone="broken" />;
}

interface FindingsProps {
  readonly project: string;
  readonly findings: Health['findings'];
}

/** The problems that the last check of the queue found. */
function Findings({ project, findings }: FindingsProps): VNode {
  return (
    <section class="band">
      <h2>Findings</h2>
      <Table
        caption="Findings"
        rows={findings}
        keyOf={({ code, issue_id, text }) => `${code} ${issue_id} ${text}`}
        toneOf={() => 'needs'}
        columns={[
          {
            label: 'Issue',
            cell: ({ issue_identifier }) => <IssueLink project={project} identifier={issue_identifier} />,
          },
          { label: 'What', isWide: true, cell: ({ text }) => <Text text={text} /> },
          { label: 'Code', cell: ({ code }) => <code>{code}</code> },
          { label: 'Since', cell: ({ since }) => <TimeAgo at={since} /> },
        ]}
      />
    </section>
  );
}

/** What the steps do that have something to do. */
const stepWords: Readonly<Record<string, string | undefined>> = {
  transitions: 'decide about completed phases',
  safety: 'read labels that people changed',
  revision_expiry: 'remove the marks of old revisions',
  reconcile: 'read what other daemons changed',
  retries: 'start retries that are due',
  dispatch: 'fill free slots',
};

/** A shorter step had nothing to do. */
const leastMs = 0.05;

/** The steps of the last tick that did something or failed. */
function TickSteps({ tick }: { readonly tick: NonNullable<Health['tick']> }): VNode {
  const steps = tick.steps.filter(({ duration_ms, error }) => duration_ms >= leastMs || error !== null);
  return (
    <section class="band">
      <h2>
        Last tick <span class="count">number {tick.number}</span>
      </h2>
      <p class="quiet-text">
        A tick is Baton's regular round, at least every 5 s: it checks what runs, starts retries that are due, and fills
        free slots with new issues. {countWords(tick.steps.length - steps.length, 'step', 'steps')} had nothing to do.
      </p>
      <Table
        caption={`The steps of tick ${tick.number}`}
        rows={steps}
        keyOf={({ step }) => step}
        toneOf={({ error }) => (error === null ? null : 'broken')}
        columns={[
          { label: 'Step', cell: ({ step }) => <span class="number">{stepWords[step] ?? plainWords(step)}</span> },
          { label: 'Took', isNumber: true, cell: ({ duration_ms }) => msWords(duration_ms) },
          {
            label: 'Outcome',
            isWide: true,
            cell: ({ error }) =>
              error === null ? (
                'ok'
              ) : (
                <span class="ill">
                  <Text text={error} />
                </span>
              ),
          },
        ]}
      />
    </section>
  );
}

const document = `${apiRoot}/openapi.json`;

/** The project and its tracker, and the addresses for programs. */
function About({ project }: { readonly project: string }): VNode {
  const { resource } = useResource<{ readonly projects: readonly Project[] }>(`${apiRoot}/projects`);
  const found = resource.value.value?.projects.find(({ name }) => name === project);
  const facts = [
    {
      label: 'API document',
      value: (
        <a href={document} target="_blank" rel="noopener">
          {document}
        </a>
      ),
    },
    {
      label: 'Metrics',
      value: (
        <a href="/metrics" target="_blank" rel="noopener">
          /metrics
        </a>
      ),
    },
  ];
  const own =
    found === undefined
      ? []
      : [
          { label: 'Tracker', value: <Text text={found.tracker} /> },
          { label: 'Workflow', value: <Text text={found.workflow_path} /> },
          { label: 'Version of the project', value: <Text text={found.version} /> },
        ];
  return (
    <section class="band">
      <h2>About</h2>
      <FactList facts={[...own, ...facts]} />
    </section>
  );
}

/** `0.4 ms`, `12 ms`, `3.2 s`. */
function msWords(ms: number): string {
  if (ms >= 1_000) return `${(ms / 1_000).toFixed(1)} s`;
  return `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`;
}

interface NamedFact {
  readonly label: string;
  readonly value: ComponentChildren;
}

/** Short facts next to each other, each below its name. */
function FactList({ facts }: { readonly facts: readonly NamedFact[] }): VNode {
  return (
    <dl class="fact-list">
      {facts.map(({ label, value }) => (
        <Fact key={label} name={label}>
          {value}
        </Fact>
      ))}
    </dl>
  );
}
