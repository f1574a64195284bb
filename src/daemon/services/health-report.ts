import type { Health as HealthReport } from '../../client/schema/system.ts';
import type { LoopDelay } from '../../clock/loop-delay.ts';
import { timeText } from '../../core/text/time-text.ts';
import type { Health } from '../../orchestrator/view/health.ts';
import type { ReadModel } from '../../orchestrator/view/read-model.ts';
import { problemsOf } from '../../server/api/present/needs-you.ts';

export interface HealthParts {
  readonly version: string;
  readonly engine: 'sqlite' | 'postgres';
  readonly model: ReadModel;
  /** The record of the last tick; null before the first. */
  readonly tick: Health['tick'] | null;
  readonly delay: Pick<LoopDelay, 'read'>;
  /** Of the whole process, in bytes. */
  readonly memoryBytes: number;
}

const mostFindings = 200;

/** The health of the daemon at this instant. */
export function healthReport({ version, engine, model, tick, delay, memoryBytes }: HealthParts): HealthReport {
  const problems = problemsOf(model);
  return {
    version,
    started_at: timeText(model.startedAt) ?? '',
    is_healthy: problems.length === 0,
    problems,
    tick:
      tick === null
        ? null
        : {
            number: tick.number,
            started_at: timeText(tick.startedAt) ?? '',
            duration_ms: tick.durationMs,
            // Only the message: the cause of an error may contain more than an API caller should see.
            steps: tick.steps.map(({ step, durationMs, error }) => ({
              step,
              duration_ms: durationMs,
              error: error?.message ?? null,
            })),
          },
    loop_delay_ms: delay.read(),
    memory_mb: Math.round(memoryBytes / 1024 / 1024),
    store: { engine },
    findings: model.findings.slice(0, mostFindings).map(({ code, issueId, identifier, text, since }) => ({
      code,
      issue_id: issueId,
      issue_identifier: identifier,
      text,
      since: timeText(since),
    })),
  };
}
