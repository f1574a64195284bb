import type { VNode } from 'preact';
import type { Salvage } from '../../src/client/schema/system.ts';
import { projectPath } from '../data/connection/api.ts';
import { useResource } from '../data/connection/resource.ts';
import { IssueLink } from '../parts/issue/issue-link.tsx';
import { CopyButton } from '../parts/shared/copy-button.tsx';
import { EmptyLine } from '../parts/shared/empty-line.tsx';
import { ProblemLine } from '../parts/shared/problem-line.tsx';
import { Table } from '../parts/shared/table.tsx';
import { Text } from '../parts/shared/text.tsx';
import { TimeAgo } from '../parts/shared/time.tsx';

/** Work that was saved before its workspace was removed, and the command that restores it. */
export function SystemSalvage({ project }: { readonly project: string }): VNode {
  // A workspace is removed when its issue is finished: then the issue moves to `finished`, or its row goes.
  const { resource } = useResource<Salvage>(
    projectPath(project, 'salvage'),
    (event) => event.name === 'patch' && event.data.project === project && event.data.set.finished !== undefined,
  );
  const { value, problem } = resource.value;
  return (
    <>
      {problem !== null && <ProblemLine problem={problem} />}
      {value === null && problem === null && <EmptyLine isAsking>Loading the saved work.</EmptyLine>}
      {value?.saved.length === 0 && (
        <EmptyLine>
          No saved work. Baton saves work here if it removes a workspace with work that exists nowhere else.
        </EmptyLine>
      )}
      {value !== null && value.saved.length > 0 && (
        <Table
          caption={`Saved work of ${project}`}
          rows={value.saved}
          keyOf={({ name }) => name}
          columns={[
            {
              label: 'Issue',
              cell: ({ issue_identifier }) => <IssueLink project={project} identifier={issue_identifier} />,
            },
            { label: 'Saved', cell: ({ at }) => <TimeAgo at={at} /> },
            { label: 'Commits', isNumber: true, cell: ({ commits }) => commits },
            { label: 'Files', isNumber: true, cell: ({ files }) => files },
            {
              label: 'Restore with',
              isWide: true,
              cell: ({ restore }) => (
                <span>
                  <code>
                    <Text text={restore} />
                  </code>{' '}
                  <CopyButton text={restore} />
                </span>
              ),
            },
          ]}
        />
      )}
    </>
  );
}
