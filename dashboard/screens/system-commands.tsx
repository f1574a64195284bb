import type { VNode } from 'preact';
import type { Command } from '../../src/client/schema/command.ts';
import { projectPath } from '../data/connection/api.ts';
import { useInterval } from '../data/connection/interval.ts';
import { useResource } from '../data/connection/resource.ts';
import { issueHref, runHref } from '../data/page/router.ts';
import { plainWords } from '../data/text/words.ts';
import { EmptyLine } from '../parts/shared/empty-line.tsx';
import { ProblemLine } from '../parts/shared/problem-line.tsx';
import { Status, type Tone } from '../parts/shared/status.tsx';
import { Table } from '../parts/shared/table.tsx';
import { Text } from '../parts/shared/text.tsx';
import { TimeAgo } from '../parts/shared/time.tsx';

const againMs = 5_000;
const tones: Readonly<Record<Command['status'], Tone>> = { done: 'good', refused: 'needs', waiting: 'waiting' };

/** The latest commands, who sent them, and their results. */
export function SystemCommands({ project }: { readonly project: string }): VNode {
  const path = projectPath(project, 'commands');
  const { resource, reload } = useResource<{ readonly commands: readonly Command[] }>(path);
  useInterval(againMs, reload);
  const { value, problem } = resource.value;
  return (
    <>
      {problem !== null && <ProblemLine problem={problem} />}
      {value === null && problem === null && <EmptyLine isAsking>Loading the commands.</EmptyLine>}
      {value?.commands.length === 0 && <EmptyLine>No commands yet.</EmptyLine>}
      {value !== null && value.commands.length > 0 && (
        <Table
          caption={`Latest commands of ${project}`}
          rows={value.commands}
          keyOf={({ id }) => id}
          toneOf={({ status }) => tones[status]}
          columns={[
            { label: 'When', cell: ({ at }) => <TimeAgo at={at} /> },
            { label: 'Who', cell: ({ author }) => <Who project={project} author={author} /> },
            { label: 'What', cell: ({ kind }) => plainWords(kind.replace(/^issue_/u, '')) },
            {
              label: 'Issue',
              cell: ({ issue }) =>
                issue === null ? (
                  <span class="none">–</span>
                ) : (
                  <a href={issueHref(project, issue)} data-row>
                    <Text text={issue} />
                  </a>
                ),
            },
            { label: 'Result', cell: ({ status }) => <Status tone={tones[status]} word={status} /> },
            {
              label: 'Details',
              isWide: true,
              cell: ({ text, reason }) => (
                <span>
                  <Text text={text} />
                  {reason !== null && (
                    <small>
                      {' '}
                      Reason: <Text text={reason} />
                    </small>
                  )}
                </span>
              ),
            },
          ]}
        />
      )}
    </>
  );
}

interface WhoProps {
  readonly project: string;
  readonly author: Command['author'];
}

function Who({ project, author }: WhoProps): VNode {
  if (author.kind === 'person') return <Text text={author.name} />;
  if (author.kind === 'orchestrator') return <>Baton</>;
  return <a href={runHref(project, author.run_id)}>an agent</a>;
}
