import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import type { Learning } from '../../../src/client/schema/learning.ts';
import { isOffered, longestLearning } from '../../../src/core/learning/learning.ts';
import type { Spot } from '../../data/connection/actions.ts';
import { statusWords, trialWords } from '../../data/text/learning-words.ts';
import { authorWords } from '../issue/issue-history.tsx';
import { ActionButton } from '../shared/action-button.tsx';
import { ActionFeedback } from '../shared/action-feedback.tsx';
import { Status, type Tone } from '../shared/status.tsx';
import { Text } from '../shared/text.tsx';
import { TimeAgo } from '../shared/time.tsx';
import { hint } from '../shared/tooltip.tsx';
import { LearningOrigins } from './learning-origins.tsx';
import { TextForm } from './text-form.tsx';

const tones: Readonly<Record<Learning['status'], Tone>> = {
  trial: 'running',
  kept: 'good',
  faded: 'waiting',
  vetoed: 'waiting',
  replaced: 'waiting',
};

interface LearningRowProps {
  readonly project: string;
  readonly learning: Learning;
  /** How many issues with it and without it a trial needs. */
  readonly trialIssues: number;
  readonly onDone: () => void;
}

export function learningSpot(project: string, { id, status, changed_at }: Learning): Spot {
  return { project, name: `learning/${id}`, stamp: `${status} ${changed_at}` };
}

/** One learning: what it says, who accepted it, how its trial stands, and what a person can do with it. */
export function LearningRow({ project, learning, trialIssues, onDone }: LearningRowProps): VNode {
  const { id, text, status, origins, trial } = learning;
  const { word, means } = statusWords[status];
  const isEdited = useSignal(false);
  const isUsed = isOffered(learning);
  const spot = learningSpot(project, learning);
  const decide = { spot, onDone };
  return (
    <article class={`learning tone ${tones[status]}`} data-part="learning" data-learning={id} data-row-of>
      <h3 tabIndex={-1} data-row {...hint(means)}>
        {id} <Status tone={tones[status]} word={word} />
      </h3>
      {isEdited.value ? (
        <TextForm
          spot={spot}
          draft={`learning/${project}/${id}`}
          start={text}
          label={`Text of ${id}`}
          rows={3}
          maxLength={longestLearning}
          send="Save"
          {...(trialIssues > 0 && { note: 'A new text starts a new trial.' })}
          request={(changed) => ({ kind: 'learning_edit', learning: id, text: changed })}
          onDone={onDone}
          onClose={() => (isEdited.value = false)}
        />
      ) : (
        <p>
          <Text text={text} />
        </p>
      )}
      <p class="quiet-text">
        <span class="means">{means}. </span>
        {origins.length > 0 ? (
          <>
            <LearningOrigins project={project} origins={origins} />. Accepted by{' '}
          </>
        ) : (
          'Written by '
        )}
        {authorWords(learning.author)} <TimeAgo at={learning.created_at} />.
        {trial !== null && <span data-part="trial"> {trialWords(trial, trialIssues)}</span>}
      </p>
      <div class="actions">
        {!isEdited.value && (
          <button
            type="button"
            data-part="edit"
            aria-label={`Edit ${id}`}
            {...hint(isUsed ? 'Change its text' : 'Change its text, and let agents get it again')}
            onClick={() => (isEdited.value = true)}
          >
            Edit
          </button>
        )}
        {isUsed ? (
          <ActionButton
            {...decide}
            request={{ kind: 'learning_veto', learning: id }}
            label="Veto"
            name={`Veto ${id}`}
            hint="Let no agent get it any more"
            confirm="No agent gets it any more."
          />
        ) : (
          <ActionButton
            {...decide}
            request={{ kind: 'learning_restore', learning: id }}
            label="Restore"
            name={`Restore ${id}`}
            hint={trialIssues === 0 ? 'Let agents get it again' : 'Let agents get it again, with a new trial'}
          />
        )}
      </div>
      {isUsed && <ActionFeedback spot={spot} />}
    </article>
  );
}
