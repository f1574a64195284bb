import type { VNode } from 'preact';
import type { CommandRequest } from '../../../src/client/schema/command.ts';
import { hasSeveralProjects } from '../../data/connection/live.ts';
import { IssueDialog, type IssueWords, labelsIn } from './issue-dialog.tsx';

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

const nothing: IssueWords = { title: '', description: '', priority: '', labels: '' };

function issueOf({ title, description, priority, labels }: IssueWords): CommandRequest {
  return {
    kind: 'issue_file',
    title: title.trim(),
    ...(description.trim() === '' ? {} : { description: description.trim() }),
    ...(priority === '' ? {} : { priority: Number(priority) }),
    ...(labelsIn(labels).length === 0 ? {} : { labels: [...labelsIn(labels)] }),
  };
}
