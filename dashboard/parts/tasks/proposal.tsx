import { useSignal } from '@preact/signals';
import type { ComponentChildren, VNode } from 'preact';
import { useEffect } from 'preact/hooks';
import type { CommandRequest } from '../../../src/client/schema/command.ts';
import type { TaskDetail } from '../../../src/client/schema/task.ts';
import { act, isSendingAt, type Spot } from '../../data/connection/actions.ts';
import { Status } from '../shared/status.tsx';

export type ProposalEdit = NonNullable<Extract<CommandRequest, { readonly kind: 'task_accept' }>['edits']>[number];

/** What all proposals of a task have in common. */
export interface ProposalContext {
  readonly project: string;
  readonly task: TaskDetail;
  readonly spot: Spot;
  /** By number, what a person has typed into a proposal; null: nothing. */
  readonly edits: Map<number, () => ProposalEdit | null>;
  readonly decided: () => void;
}

interface ProposalProps extends ProposalContext {
  readonly proposed: { readonly number: number; readonly decision: TaskDetail['issues'][number]['decision'] };
  readonly title: ComponentChildren;
  /** The link to what an accepted proposal has become. */
  readonly became: ComponentChildren;
  /** Instead of the title and the text, while a person edits it. */
  readonly fields: ComponentChildren;
  /** What is in the fields; null: they are not complete. */
  readonly readFields: () => ProposalEdit | null;
  readonly text?: ComponentChildren;
  readonly children?: ComponentChildren;
}

/** One proposal, and the decision of a person: as it is, edited, or not at all. */
export function Proposal({
  task,
  spot,
  edits,
  decided,
  proposed: { number, decision },
  ...props
}: ProposalProps): VNode {
  const isOpen = decision === 'open' && task.status === 'proposed';
  const wantsEdit = useSignal(false);
  const isEdited = isOpen && wantsEdit.value;
  const isSending = isSendingAt(spot);
  const { readFields } = props;
  useEffect(() => {
    edits.set(number, () => (isEdited ? readFields() : null));
    return () => edits.delete(number);
  });
  const accept = (): void => {
    const edit = isEdited ? readFields() : null;
    const asked = { task: task.id, numbers: [number], ...(edit === null ? {} : { edits: [edit] }) };
    void act(spot, { kind: 'task_accept', ...asked }).then(decided);
  };
  const refuse = (): void => void act(spot, { kind: 'task_refuse', task: task.id, numbers: [number] }).then(decided);
  return (
    <section class="proposal" data-part="proposal" data-number={number} aria-label={`Proposal ${number}`} data-row-of>
      <h4 tabIndex={-1} data-row>
        {number}. {!isEdited && props.title} {decision === 'accepted' && props.became}
        {decision === 'refused' && <Status tone="waiting" word="refused" />}
      </h4>
      {isEdited ? <div class="edit-proposal">{props.fields}</div> : props.text}
      {props.children}
      {isOpen && (
        <div class="actions">
          <button
            type="button"
            data-part="accept"
            aria-label={isEdited ? `Accept edited proposal ${number}` : `Accept proposal ${number}`}
            aria-disabled={isSending}
            onClick={accept}
          >
            {isEdited ? 'Accept edited' : 'Accept'}
          </button>
          <button
            type="button"
            data-part="edit"
            aria-label={`Edit proposal ${number}`}
            aria-pressed={isEdited}
            onClick={() => (wantsEdit.value = !wantsEdit.value)}
          >
            Edit
          </button>
          <button
            type="button"
            data-part="refuse"
            aria-label={`Refuse proposal ${number}`}
            aria-disabled={isSending}
            onClick={refuse}
          >
            Refuse
          </button>
        </div>
      )}
    </section>
  );
}
