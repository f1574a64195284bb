import type { VNode } from 'preact';
import type { StreamEvent } from '../../src/client/schema/event.ts';
import type { Pipeline } from '../../src/client/schema/pipeline.ts';
import { readyPhase } from '../../src/core/pipeline/phase.ts';
import { waitWords } from '../../src/core/pipeline/phase-standing.ts';
import { useEachProject } from '../data/connection/each-project.ts';
import { hasSeveralProjects } from '../data/connection/live.ts';
import { countWords } from '../data/text/words.ts';
import { IssueLink } from '../parts/issue/issue-link.tsx';
import { EmptyLine } from '../parts/shared/empty-line.tsx';
import { ProblemLine } from '../parts/shared/problem-line.tsx';
import { Status, type Tone } from '../parts/shared/status.tsx';
import { Table } from '../parts/shared/table.tsx';
import { Text } from '../parts/shared/text.tsx';
import { Age } from '../parts/shared/time.tsx';

/** It reads many issues, so it is read at most this often. */
const settleMs = 1_000;

type Issue = Pipeline['issues'][number];

/** The issues by phase: how long each is there, how often its artifact was sent back, and what it waits for. */
export function PipelineScreen(): VNode {
  const { answers } = useEachProject<Pipeline>('pipeline', { changesWith: isAboutPhases, settleMs });
  const read = answers.value.flatMap(({ project, value }) =>
    value === null || value.phases.length === 0 ? [] : { project, pipeline: value },
  );
  return (
    <div class="screen pipeline-screen">
      <h1 tabIndex={-1}>Pipeline</h1>
      {answers.value.map(({ project, problem }) => problem !== null && <ProblemLine key={project} problem={problem} />)}
      {read.length === 0 && (
        <EmptyLine isAsking={answers.value.length === 0}>
          {answers.value.length === 0
            ? 'Loading the pipeline.'
            : 'The workflow file lists no phases (pipeline.phases), so each issue goes straight to its worker.'}
        </EmptyLine>
      )}
      {read.map(({ project, pipeline }) => (
        <section key={project} aria-label={`Pipeline of ${project}`}>
          {hasSeveralProjects.value && (
            <h2>
              <Text text={project} />
            </h2>
          )}
          <p class="quiet-text">
            A typical issue costs {countWords(pipeline.runs.usual, 'run', 'runs')}. An artifact goes back at most{' '}
            {countWords(pipeline.max_revisions, 'time', 'times')}; then a person decides.
          </p>
          {pipeline.is_cut && <p class="warning-line">There are more issues than this page shows.</p>}
          {[...pipeline.phases.map(({ name }) => name), readyPhase].map((name) => (
            <PhaseIssues
              key={name}
              project={project}
              phase={name}
              validation={pipeline.phases.find((each) => each.name === name)?.validation ?? null}
              issues={pipeline.issues.filter(({ phase }) => phase === name)}
            />
          ))}
        </section>
      ))}
    </div>
  );
}

interface PhaseIssuesProps {
  readonly project: string;
  readonly phase: string;
  readonly validation: Pipeline['phases'][number]['validation'] | null;
  readonly issues: readonly Issue[];
}

const validationWords = {
  structural: 'its contract decides',
  judge: 'a judge decides',
  trust: 'trusted',
} as const;

function PhaseIssues({ project, phase, validation, issues }: PhaseIssuesProps): VNode {
  return (
    <section class="phase-issues" aria-label={phase} data-part={`phase_${phase}`}>
      <h3>
        <Text text={phase} /> <span class="count">{issues.length}</span>{' '}
        <small>{validation === null ? 'the worker implements the issue' : validationWords[validation]}</small>
      </h3>
      {issues.length > 0 && (
        <Table<Issue>
          caption={`Issues in the phase ${phase}`}
          rows={issues}
          keyOf={({ issue_id }) => issue_id}
          toneOf={(issue) => tones[issue.waits_for]}
          columns={[
            {
              label: 'Issue',
              cell: ({ issue_identifier }) => <IssueLink project={project} identifier={issue_identifier} />,
            },
            { label: 'Title', isWide: true, cell: ({ title }) => <Text text={title} /> },
            {
              label: 'In the phase',
              isNumber: true,
              cell: ({ since }) => <Age at={since} label="in the phase since" />,
            },
            { label: 'Revisions', isNumber: true, cell: ({ revisions }) => revisions },
            {
              label: 'Status',
              cell: ({ waits_for }) => <Status tone={tones[waits_for]} word={waitWords[waits_for]} />,
            },
          ]}
        />
      )}
    </section>
  );
}

const tones: Readonly<Record<Issue['waits_for'], Tone>> = {
  agent: 'running',
  judge: 'running',
  decision: 'running',
  worker: 'running',
  review: 'needs',
  person: 'needs',
};

/** An issue goes on when a run of it ends, or a person does something; the progress of a run changes nothing here. */
function isAboutPhases(event: StreamEvent): boolean {
  if (event.name !== 'patch') return event.name === 'issue_changed';
  const { set, drop } = event.data;
  return [set.waiting, drop.waiting, set.needs_you, drop.needs_you, drop.running].some((rows) => rows !== undefined);
}
