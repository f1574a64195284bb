import type { VNode } from 'preact';
import { useRef } from 'preact/hooks';
import type { TaskDetail } from '../../../src/client/schema/task.ts';
import { longestLearning } from '../../../src/core/learning/learning.ts';
import { linkTo } from '../../data/page/router.ts';
import { Text } from '../shared/text.tsx';
import { LearningOrigins } from './learning-origins.tsx';
import { Proposal, type ProposalContext } from './proposal.tsx';

const replaces = { open: 'Replaces', accepted: 'Replaced', refused: 'Would have replaced' } as const;

interface LearningProposalProps extends ProposalContext {
  readonly learning: TaskDetail['learnings'][number];
}

/** One proposed learning: where it comes from, and what it would replace. */
export function LearningProposal({ learning, ...context }: LearningProposalProps): VNode {
  const { number, text, origins, replaced, decision } = learning;
  const field = useRef<HTMLTextAreaElement>(null);
  return (
    <Proposal
      {...context}
      proposed={learning}
      title={<Text text={text} />}
      became={learning.learning !== null && <a href={linkTo('/tasks', { tab: 'learnings' })}>{learning.learning}</a>}
      fields={
        <textarea
          ref={field}
          aria-label={`Text of proposal ${number}`}
          rows={3}
          maxLength={longestLearning}
          defaultValue={text}
        />
      }
      readFields={() => {
        const changed = field.current?.value.trim() ?? '';
        return changed === '' ? null : { number, text: changed };
      }}
    >
      <p>
        <LearningOrigins project={context.project} origins={origins} />
      </p>
      {replaced.map((each) => (
        <p key={each.id} data-part="replaced">
          {replaces[decision]} {each.id}: <Text text={each.text} />
        </p>
      ))}
    </Proposal>
  );
}
