import type { IssueName } from '../src/orchestrator/claims/claim.ts';
import type { ReadModel } from '../src/orchestrator/view/read-model.ts';

/** An issue that waits for a person's answer: its agent lives, or it is held with the question. */
export interface AskingIssue {
  readonly issue: IssueName;
  /** The same for as long as the same question waits in the same way. */
  readonly key: string;
  /** Wall time at which its run ends without an answer; null when it has ended. */
  readonly until: number | null;
}

/** All issues that wait for an answer now. */
export function askingIssues({ questions, held }: ReadModel): AskingIssue[] {
  return [
    ...questions.map(({ id, issue, until }) => ({ issue, key: id, until })),
    ...held
      .filter(({ code }) => code === 'agent_input_required')
      .map(({ issue, since }) => ({ issue, key: `${issue.id} held ${since}`, until: null })),
  ];
}
