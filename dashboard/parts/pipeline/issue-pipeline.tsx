import type { VNode } from 'preact';
import type { IssueDetail } from '../../../src/client/schema/issue.ts';
import type { IssuePipeline as Standing } from '../../../src/client/schema/pipeline.ts';
import { readyPhase } from '../../../src/core/pipeline/phase.ts';
import { waitText } from '../../../src/core/pipeline/phase-standing.ts';
import type { Spot } from '../../data/connection/actions.ts';
import { endOf } from '../issue/issue-heading.tsx';
import { ActionFeedback } from '../shared/action-feedback.tsx';
import { Text } from '../shared/text.tsx';
import { TimeAgo } from '../shared/time.tsx';
import { ArtifactVersions } from './artifact-versions.tsx';
import { PhaseDecision } from './phase-decision.tsx';
import { PhaseSteps } from './phase-steps.tsx';

export interface PipelineProps {
  readonly project: string;
  readonly issue: IssueDetail;
  readonly pipeline: Standing;
  readonly spot: Spot;
}

/** Where the issue stands in the pipeline, what its agents wrote, and what a person can do about it. */
export function IssuePipeline({ project, issue }: Pick<PipelineProps, 'project' | 'issue'>): VNode | null {
  const { pipeline } = issue;
  if (pipeline === null) return null;
  const { phase, since, revisions, waits_for: waits, steps, artifacts } = pipeline;
  const wait = waitText(waits, issue.explanation?.next_code);
  const stamp = `${phase} ${revisions} ${waits} ${artifacts.length}`;
  const props: PipelineProps = { project, issue, pipeline, spot: { project, name: `pipeline/${issue.id}`, stamp } };
  const parts = (
    <>
      <PhaseSteps steps={steps} />
      {endOf(issue) === null && (
        <p>
          <strong>
            <Text text={phase} />
          </strong>
          {revisions > 0 && `, round ${revisions + 1}`}
          {wait !== null && `: ${wait}`}.{' '}
          <small>
            In this phase since <TimeAgo at={since} />.
          </small>
        </p>
      )}
      <Reasons pipeline={pipeline} />
      <PhaseDecision {...props} />
      <ArtifactVersions {...props} />
    </>
  );
  const decides = decidesPhase(issue);
  return (
    <section class={`pipeline tone ${decides ? 'needs' : ''}`} aria-label="Pipeline" data-part="pipeline">
      {phase === readyPhase ? (
        // Its worker has it, or it is over: the phases are only looked up.
        <details>
          <summary>Pipeline</summary>
          {parts}
        </details>
      ) : (
        <>
          <h2>Pipeline</h2>
          {parts}
        </>
      )}
      <ActionFeedback spot={props.spot} />
    </section>
  );
}

/** Whether a person has to decide about an artifact; the question of a worker has its own place. */
export function decidesPhase({ pipeline }: IssueDetail): boolean {
  return pipeline?.waits_for === 'person' && pipeline.phase !== readyPhase;
}

/** Why the newest artifact of the phase did not count, or with which warnings it did. */
function Reasons({ pipeline: { phase, since, claims } }: { readonly pipeline: Standing }): VNode | null {
  const last = claims.find((claim) => claim.phase === phase && claim.at >= since);
  if (last === undefined || last.reasons.length === 0) return null;
  return (
    <div class="phase-reasons">
      <p>{last.state === 'revise' || last.state === 'person' ? 'It was sent back:' : 'What was missing:'}</p>
      <ul>
        {last.reasons.map((reason, index) => (
          <li key={index}>
            <Text text={reason} lines />
          </li>
        ))}
      </ul>
    </div>
  );
}
