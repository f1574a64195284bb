import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { useRef } from 'preact/hooks';
import { act, isSendingAt } from '../../data/connection/actions.ts';
import { draftOf, keepDraft } from '../../data/page/drafts.ts';
import { isSendKey } from '../../data/page/send-key.ts';
import { ActionButton } from '../shared/action-button.tsx';
import { hint } from '../shared/tooltip.tsx';
import type { PipelineProps } from './issue-pipeline.tsx';

/** Approve the artifact, send it back with words, or move the issue to a phase. */
export function PhaseDecision({ issue, pipeline, spot }: PipelineProps): VNode {
  const { actions, phase, waits_for: waits } = pipeline;
  const field = useRef<HTMLTextAreaElement>(null);
  const draft = `phase-reject/${spot.project}/${issue.id}`;
  const isSending = isSendingAt(spot);
  const sendBack = async (): Promise<void> => {
    const note = field.current?.value.trim() ?? '';
    if (note === '') return field.current?.focus();
    const sent = await act(spot, { kind: 'phase_reject', issue: issue.id, note });
    if (sent === null) return;
    keepDraft(draft, null);
    if (field.current !== null) field.current.value = '';
  };
  return (
    <div class="phase-decision">
      <div class="actions">
        {actions.includes('phase_approve') && (
          <ActionButton
            spot={spot}
            request={{ kind: 'phase_approve', issue: issue.id }}
            label="Approve"
            name={`Approve the artifact of ${issue.identifier}`}
            hint={`Accept the newest artifact of "${phase}", and let the issue go on to its next phase`}
            isMain={waits === 'person'}
          />
        )}
        <MoveToPhase issue={issue} pipeline={pipeline} spot={spot} />
      </div>
      {actions.includes('phase_reject') && (
        <form
          class="send-back"
          data-part="phase_reject"
          onSubmit={(event) => {
            event.preventDefault();
            void sendBack();
          }}
        >
          <textarea
            ref={field}
            rows={2}
            aria-label="What has to change in the artifact"
            placeholder="What has to change? The agent of this phase gets your words."
            defaultValue={draftOf(draft) ?? ''}
            readOnly={isSending}
            onInput={({ currentTarget: { value } }) => keepDraft(draft, value === '' ? null : value)}
            onKeyDown={(event) => {
              if (event.key === 'Escape') event.currentTarget.blur();
              if (isSendKey(event)) void sendBack();
            }}
          />
          <button type="submit" aria-disabled={isSending} {...hint('Send it back to its agent (Ctrl+Enter)')}>
            Send back with words
          </button>
        </form>
      )}
    </div>
  );
}

function MoveToPhase({ issue, pipeline, spot }: Omit<PipelineProps, 'project'>): VNode {
  const others = pipeline.steps.map((step) => step.phase).filter((name) => name !== pipeline.phase);
  const chosen = useSignal('');
  const to = others.includes(chosen.value) ? chosen.value : (others.at(-1) ?? '');
  return (
    <span class="phase-move">
      <select
        aria-label="Phase"
        data-part="phase_choice"
        value={to}
        onChange={({ currentTarget }) => {
          chosen.value = currentTarget.value;
        }}
      >
        {others.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
      <ActionButton
        spot={spot}
        request={{ kind: 'phase_move', issue: issue.id, phase: to }}
        label="Move to this phase"
        name={`Move to this phase: ${issue.identifier} to ${to}`}
        hint="Send the issue to the chosen phase; a run of another phase is stopped"
        confirm={`Move it to "${to}"?`}
      />
    </span>
  );
}
