import type { Run, RunEvent } from '../../../client/schema/run.ts';
import { evidenceText, publicationText } from '../../../core/run/run-evidence.ts';
import { certainTime, timeText } from '../../../core/text/time-text.ts';
import type { RunEventLine } from '../../../store/tables/run-events.ts';
import type { RunRecord } from '../../../store/tables/runs.ts';
import { presentUsage } from './present-usage.ts';

/** A run for the API. */
export function presentRun(run: RunRecord): Run {
  const { finish, evidence, removal } = run;
  const isGone = removal !== null && removal.keptBecause === null;
  return {
    run_id: run.runId,
    issue_id: run.issueId,
    issue_identifier: run.identifier,
    role: run.role,
    phase: run.phase ?? null,
    attempt: run.attempt,
    retry_kind: run.retryKind,
    recovery: run.recovery ?? null,
    backend: run.backend,
    agent: run.agent,
    agent_reason: run.agentReason,
    prompt: run.prompt ?? null,
    account: run.account,
    host: run.host,
    pid: run.pid,
    workspace_path: run.workspace,
    session_id: run.threadId,
    turns: run.turns,
    started_at: certainTime(run.startedAt),
    ended_at: timeText(finish?.endedAt ?? null),
    outcome: finish?.outcome ?? null,
    error_code: finish?.errorCode ?? null,
    error_message: finish?.errorMessage ?? null,
    last_message: run.lastMessage,
    usage: presentUsage(run),
    evidence:
      evidence === null
        ? null
        : {
            text: evidenceText(evidence),
            changed: evidence.changed,
            git: evidence.git === null ? null : { ...evidence.git },
            publication: evidence.publication === undefined ? null : { ...evidence.publication },
          },
    publication: evidence?.publication === undefined ? null : publicationText(evidence.publication, isGone),
    removal:
      removal === null
        ? null
        : {
            at: certainTime(removal.at),
            kept_because: removal.keptBecause,
            saved: removal.saved.map((work) => ({ ...work })),
          },
  };
}

export function presentRunEvent({ seq, at, name, summary }: RunEventLine): RunEvent {
  return { seq, at: certainTime(at), event: name, message: summary };
}
