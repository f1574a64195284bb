import type { VNode } from 'preact';
import type { CommandRequest } from '../../../src/client/schema/command.ts';
import { hasSeveralProjects } from '../../data/connection/live.ts';
import { IssueDialog, type IssueWords, namesIn, wordsOf } from './issue-dialog.tsx';

interface NewIssueDialogProps {
  readonly project: string;
  readonly onClose: () => void;
}

/** A new issue. */
export function NewIssueDialog({ project, onClose }: NewIssueDialogProps): VNode {
  return (
    <IssueDialog
      project={project}
      part="issue_file"
      heading={hasSeveralProjects.value ? `New issue in ${project}` : 'New issue'}
      draft={`new/${project}`}
      before={nothing}
      button={{ label: 'File issue', busy: 'Filing…' }}
      request={issueOf}
      onClose={onClose}
    />
  );
}

const nothing: IssueWords = wordsOf(() => '');

function issueOf({ title, description, priority, labels, blockers, status, parent }: IssueWords): CommandRequest {
  return {
    kind: 'issue_file',
    title: title.trim(),
    ...(description.trim() === '' ? {} : { description: description.trim() }),
    ...(priority === '' ? {} : { priority: Number(priority) }),
    ...(namesIn(labels).length === 0 ? {} : { labels: [...namesIn(labels)] }),
    ...(namesIn(blockers).length === 0 ? {} : { blocked_by: [...namesIn(blockers)] }),
    ...(status === '' ? {} : { status }),
    ...(parent.trim() === '' ? {} : { parent: parent.trim() }),
  };
}
