import type { VNode } from 'preact';
import type { CommandRequest } from '../../../src/client/schema/command.ts';
import type { IssueDetail } from '../../../src/client/schema/issue.ts';
import { IssueDialog, type IssueWords, issueFields, namesIn } from './issue-dialog.tsx';

interface IssueEditDialogProps {
  readonly project: string;
  readonly issue: IssueDetail;
  readonly onClose: () => void;
}

/** Edits the text of an issue. Only the fields changed here are sent: changes by others meanwhile stay. */
export function IssueEditDialog({ project, issue, onClose }: IssueEditDialogProps): VNode {
  return (
    <IssueDialog
      project={project}
      part="issue_edit"
      heading={`Edit ${issue.identifier}`}
      draft={`edit/${project}/${issue.id}`}
      before={wordsOf(issue)}
      button={{ label: 'Save', busy: 'Saving…' }}
      request={(after, before) => changesOf(issue.id, before, after)}
      onClose={onClose}
    />
  );
}

function wordsOf({ title, description, priority, labels, blockers }: IssueDetail): IssueWords {
  return {
    title,
    description: description ?? '',
    priority: priority === null ? '' : String(priority),
    labels: labels.join(', '),
    blockers: blockers.flatMap(({ identifier, id }) => identifier ?? id ?? []).join(', '),
    status: '',
    parent: '',
  };
}

/** Null when nothing was changed. */
function changesOf(issue: string, before: IssueWords, after: IssueWords): CommandRequest | null {
  const changed = issueFields.filter((field) => before[field].trim() !== after[field].trim());
  if (changed.length === 0) return null;
  return {
    kind: 'issue_edit',
    issue,
    ...(changed.includes('title') ? { title: after.title.trim() } : {}),
    ...(changed.includes('description')
      ? { description: after.description.trim() === '' ? null : after.description }
      : {}),
    ...(changed.includes('priority') ? { priority: after.priority === '' ? null : Number(after.priority) } : {}),
    ...(changed.includes('blockers') ? { blocked_by: [...namesIn(after.blockers)] } : {}),
    ...(changed.includes('labels') ? { labels: [...namesIn(after.labels)] } : {}),
  };
}
