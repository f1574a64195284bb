import { type Clock, timedOut, within } from '../../../clock/clock.ts';
import { toBatonError } from '../../../core/baton-error.ts';
import type { ApiProject } from '../api-project.ts';
import type { Explanation, IssueDetail } from '../schema/issue.ts';

/** It may have to ask the tracker, and a page is not kept waiting for that. */
const explainMs = 5_000;

export interface Explained {
  readonly told: Pick<IssueDetail, 'explanation' | 'why_unknown'>;
  /** The issue as the explanation found it. */
  readonly issue: { readonly title: string; readonly state: string } | null;
}

/** Why an issue is where it is; that nobody could find out is an answer too. Never rejects. */
export async function explainIssue(project: ApiProject, issueId: string, clock: Clock): Promise<Explained> {
  try {
    const found = await within(clock, explainMs, project.explain(issueId));
    if (found === timedOut) return unknown(`The tracker did not answer within ${explainMs / 1_000} seconds.`);
    const { gates, reason, startsBefore, nextCode, next, issue } = found;
    const explanation: Explanation = {
      gates: gates.map(({ gate, refusal, text }) => ({
        ...{ gate, passed: refusal === null, code: refusal?.code ?? null, text },
      })),
      reason: reason === null ? null : { code: reason.code, text: reason.text },
      starts_before: startsBefore,
      next_code: nextCode,
      next,
    };
    return { told: { explanation, why_unknown: null }, issue };
  } catch (thrown) {
    return unknown(toBatonError(thrown).message);
  }
}

function unknown(why: string): Explained {
  return { told: { explanation: null, why_unknown: why }, issue: null };
}
