import type { ExplainedIssue, Explanation, IssueDetail } from '../../../client/schema/issue.ts';
import { type Clock, timedOut, within } from '../../../clock/clock.ts';
import { BatonError, toBatonError } from '../../../core/baton-error.ts';
import type { ApiProject } from '../api-project.ts';
import { presentMessages } from './present-message.ts';
import { phaseOfRow, surroundingsIn } from './present-pipeline.ts';

/**
 * An explanation may have to ask the tracker. A page waits only briefly for it; a caller that wants nothing else waits
 * longer.
 */
const explainMs = 5_000;
const explainAloneMs = 15_000;

export interface Explained {
  readonly detail: Pick<IssueDetail, 'explanation' | 'why_unknown'>;
  /** The issue as the explanation found it. */
  readonly issue: { readonly title: string; readonly state: string } | null;
}

/** Why an issue is where it is, or why that is unknown. Never rejects. */
export async function explainIssue(project: ApiProject, issueId: string, clock: Clock): Promise<Explained> {
  try {
    const found = await within(clock, explainMs, project.explain(issueId));
    if (found === timedOut) return unknown(`The tracker did not answer within ${explainMs / 1_000} seconds.`);
    return {
      detail: { explanation: presentExplanation(found, project), why_unknown: null },
      issue: found.issue,
    };
  } catch (thrown) {
    return unknown(toBatonError(thrown).message);
  }
}

/** The explanation together with its issue. Rejects when there is no explanation. */
export async function explained(project: ApiProject, reference: string, clock: Clock): Promise<ExplainedIssue> {
  const found = await within(clock, explainAloneMs, project.explain(reference));
  if (found === timedOut) throw new BatonError('tracker_request', 'The tracker has not answered the daemon yet.');
  const { id, identifier, title, state } = found.issue;
  const messages = await presentMessages(project.tables, { project: project.id, issueId: id });
  return {
    issue_id: id,
    issue_identifier: identifier,
    title,
    state,
    messages,
    ...presentExplanation(found, project),
  };
}

function presentExplanation(
  { issue, gates, reason, startsBefore, nextCode, next, counts, phase }: Found,
  project: Pick<ApiProject, 'read'>,
): Explanation {
  return {
    ...(phase === null ? {} : { phase: phaseOfRow(phase, surroundingsIn(project.read())(issue.id)) }),
    gates: gates.map(({ gate, refusal, text }) => ({
      gate,
      passed: refusal === null,
      code: refusal?.code ?? null,
      text,
    })),
    reason: reason === null ? null : { code: reason.code, text: reason.text },
    starts_before: startsBefore,
    next_code: nextCode,
    next,
    counts: {
      runs: counts.runs,
      failures: counts.failures,
      stale_runs: counts.staleRuns,
      no_signals: counts.noSignals,
    },
  };
}

type Found = Awaited<ReturnType<ApiProject['explain']>>;

function unknown(why: string): Explained {
  return { detail: { explanation: null, why_unknown: why }, issue: null };
}
