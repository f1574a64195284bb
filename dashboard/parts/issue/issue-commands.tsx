import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { useEffect } from 'preact/hooks';
import type { IssueDetail } from '../../../src/client/schema/issue.ts';
import { harmlessLine } from '../../../src/core/text/harmless-line.ts';
import { act } from '../../data/connection/actions.ts';
import { agentsOf } from '../../data/connection/live.ts';
import { useKeys } from '../../data/page/keyboard.ts';
import { openForm } from '../../data/page/open-forms.ts';
import { queryWord, setQuery } from '../../data/page/router.ts';
import { actionsNamed } from '../../data/text/command-words.ts';
import { IssueEditDialog } from '../board/issue-edit-dialog.tsx';
import { MoveDialog } from '../board/move-dialog.tsx';
import { hint } from '../shared/tooltip.tsx';
import { issueSpot, useIssueActions } from './issue-actions.tsx';
import { useIssueKeys } from './issue-keys.ts';

interface IssueCommandsProps {
  readonly project: string;
  readonly issue: IssueDetail;
}

/** All actions that the issue allows now, and the result of the last one. */
export function IssueCommands({ project, issue }: IssueCommandsProps): VNode {
  const open = useSignal<'move' | 'edit' | null>(null);
  const spot = issueSpot(project, issue.id, stampOf(issue));
  const hasOpenQuestion = issue.questions.some(({ state }) => state === 'open');
  const isInReview = issue.pull?.status === 'in_review' || issue.pull?.status === 'approved';
  // The section of the pipeline has the main action then.
  const isForDecision = issue.pipeline?.waits_for === 'person' && issue.pipeline.actions.includes('phase_approve');
  const { buttons, below } = useIssueActions({
    spot,
    place: issuePlace(project, issue.id),
    issue: { issue_id: issue.id, issue_identifier: issue.identifier },
    // Comments have their own field on the page.
    actions: issue.actions.filter((name) => name !== 'issue_comment'),
    hasMain: !hasOpenQuestion && !isInReview && !isForDecision && issue.activity !== null,
    run: issue.runs[0]?.outcome === null ? issue.runs[0].run_id : undefined,
  });
  const canMove = issue.actions.includes('issue_move') && issue.moves.length > 0;
  const canEdit = issue.actions.includes('issue_edit');
  const show = (what: 'move' | 'edit', isAllowed: boolean): void => {
    if (isAllowed) open.value = what;
  };
  useIssueKeys();
  useKeys([
    { keys: 'c', label: 'write a comment', run: focusComment },
    { keys: 'm', label: 'move the issue', part: 'issue_move', run: () => show('move', canMove) },
    { keys: 'e', label: 'edit the issue', part: 'issue_edit', run: () => show('edit', canEdit) },
  ]);
  // The address may name an action; it is opened once and removed from the address.
  const wanted = queryWord('do');
  useEffect(() => {
    if (wanted === '') return;
    if (wanted === 'issue_move') show('move', canMove);
    else if (wanted === 'issue_edit') show('edit', canEdit);
    else if (wanted === 'issue_comment') focusComment();
    else if (
      actionsNamed(issue.actions, agentsOf(project)).some(({ name, asks }) => name === wanted && asks !== undefined)
    )
      openForm(issuePlace(project, issue.id), wanted);
    setQuery({ do: null });
  }, [wanted]);
  const close = (): void => {
    open.value = null;
  };
  const name = harmlessLine(issue.identifier);
  return (
    <div class="issue-commands" data-home>
      <div class="actions">
        {buttons}
        {canMove && (
          <button
            type="button"
            data-part="issue_move"
            aria-label={`Move: ${name}`}
            {...hint('Move the issue to another state')}
            onClick={() => show('move', true)}
          >
            Move…
          </button>
        )}
        {canEdit && (
          <button
            type="button"
            data-part="issue_edit"
            aria-label={`Edit: ${name}`}
            {...hint('Change the title, the description and the properties')}
            onClick={() => show('edit', true)}
          >
            Edit…
          </button>
        )}
      </div>
      {below}
      {open.value === 'move' && (
        <MoveDialog
          project={project}
          issues={[issue]}
          states={issue.moves.map(({ to }) => to)}
          onMove={(to) => void act(spot, { kind: 'issue_move', issue: issue.id, to })}
          onClose={close}
        />
      )}
      {open.value === 'edit' && <IssueEditDialog project={project} issue={issue} onClose={close} />}
    </div>
  );
}

/** The comments are below what is asked. */
function focusComment(): void {
  document.querySelector<HTMLElement>('main .comments form textarea')?.focus();
}

/** The place of an issue's own forms. */
export function issuePlace(project: string, issueId: string): string {
  return `issue/${project}/${issueId}`;
}

/** Changes when an answer about the issue is out of date. */
export function stampOf({ state, activity, runs }: IssueDetail): string {
  return [state, activity, runs[0]?.run_id].join(' ');
}
