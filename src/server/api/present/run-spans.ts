import type { Span } from '../../../client/schema/run.ts';
import { certainTime, timeText } from '../../../core/text/time-text.ts';
import type { RunEventLine } from '../../../store/tables/run-events.ts';
import type { RunRecord } from '../../../store/tables/runs.ts';
import type { StoredQuestion } from '../../../store/tables/words/questions.ts';
import { toolSpanIn } from './tool-span.ts';
import type { TranscriptEvent } from './transcript-payloads.ts';

export interface SpanFacts {
  readonly run: RunRecord;
  /** The events named in `spanEvents`, in order. */
  readonly events: readonly RunEventLine[];
  /** The events of the transcript, in order; for a long run perhaps only the beginning and the end. */
  readonly transcript: readonly TranscriptEvent[];
  /** The questions of the issue; those of other runs are ignored. */
  readonly questions: readonly StoredQuestion[];
}

const turnEnds: Readonly<Record<string, boolean | null>> = {
  turn_completed: true,
  turn_input_required: null,
  turn_failed: false,
  turn_cancelled: false,
  turn_ended_with_error: false,
};
const toolEnds: Readonly<Record<string, boolean>> = {
  tool_call_completed: true,
  tool_call_failed: false,
  unsupported_tool_call: false,
};

/** The events from which spans are built. */
export const spanEvents: readonly string[] = [
  ...['session_started', 'stage_changed', 'turn_started'],
  ...Object.keys(turnEnds),
  ...Object.keys(toolEnds),
];

/** The final stages of a run; nothing happens in them. */
const lastStages = new Set(['succeeded', 'failed', 'timed_out', 'stalled', 'canceled_by_reconciliation']);

/**
 * What a run did and when, for a waterfall, ordered by start. A span has no end while it lasts, or when its end is
 * unknown.
 */
export function runSpans(facts: SpanFacts): Span[] {
  return [...stages(facts), ...turns(facts), ...ownTools(facts), ...agentTools(facts), ...questions(facts)]
    .map((span, index) => ({ span, index }))
    .toSorted((a, b) => compareTexts(a.span.started_at, b.span.started_at) || a.index - b.index)
    .map(({ span }) => span);
}

/** The recorded stages. A run from before stages were recorded gets one span, up to its first event. */
function stages({ run, events }: SpanFacts): Span[] {
  const recorded = events.filter(({ name }) => name === 'stage_changed');
  const endedAt = run.finish?.endedAt ?? null;
  if (recorded.length === 0) {
    const first = events[0]?.at ?? endedAt;
    const isOk = first === null ? null : events.length > 0 || run.finish?.outcome === 'succeeded';
    return [spanOf('stage', 'preparing_workspace', run.startedAt, first, isOk)];
  }
  return recorded.flatMap(({ summary, at }, index) => {
    if (lastStages.has(summary)) return [];
    const next = recorded[index + 1];
    const isOk = next === undefined ? endedWell(run) : next.summary === 'succeeded' || !lastStages.has(next.summary);
    return [spanOf('stage', summary, at, next?.at ?? endedAt, isOk)];
  });
}

function turns({ run, events }: SpanFacts): Span[] {
  const found: Span[] = [];
  let open: { readonly at: number; readonly name: string } | null = null;
  const close = (endedAt: number | null, isOk: boolean | null): void => {
    if (open !== null) found.push(spanOf('turn', open.name, open.at, endedAt, isOk));
    open = null;
  };
  let number = 0;
  for (const { name, at } of events) {
    if (name === 'turn_started') {
      close(at, null);
      number += 1;
      open = { at, name: `turn ${number}` };
    } else if (Object.hasOwn(turnEnds, name)) close(at, turnEnds[name] ?? null);
  }
  close(run.finish?.endedAt ?? null, null);
  return found;
}

/** Baton's own tools: the time of the call is known, its duration is not. */
function ownTools({ events }: SpanFacts): Span[] {
  return events.flatMap(({ name, at, summary }) =>
    Object.hasOwn(toolEnds, name)
      ? [spanOf('tool', summary.split(':', 1)[0] ?? summary, at, at, toolEnds[name] ?? null)]
      : [],
  );
}

function agentTools({ run, transcript }: SpanFacts): Span[] {
  const found = new Map<string, Span>();
  for (const event of transcript) {
    const tool = toolSpanIn(event);
    if (tool === null) continue;
    const { id, span } = tool;
    const begun = found.get(id);
    // The recorded start is more reliable than the duration that the agent reports.
    found.set(id, begun === undefined || span.ended_at === null ? span : { ...span, started_at: begun.started_at });
  }
  const endedAt = timeText(run.finish?.endedAt ?? null);
  return [...found.values()].map((span) => (span.ended_at === null ? { ...span, ended_at: endedAt } : span));
}

function questions({ run, questions: asked }: SpanFacts): Span[] {
  return asked
    .filter(({ runId }) => runId === run.runId)
    .map(({ question, askedAt, given, closedAt }) => {
      const end = given?.at ?? closedAt ?? run.finish?.endedAt ?? null;
      // An answer may come after the run has ended; the run did not wait for it that long.
      const last = run.finish?.endedAt ?? null;
      const endedAt = end !== null && last !== null ? Math.min(end, last) : end;
      const isAnswered = given !== null && (last === null || given.at <= last);
      return spanOf(
        'question',
        question.text,
        askedAt,
        endedAt,
        isAnswered ? given.answer.decision !== 'decline' : null,
      );
    });
}

function endedWell({ finish }: RunRecord): boolean | null {
  return finish === null ? null : finish.outcome === 'succeeded';
}

function spanOf(kind: Span['kind'], name: string, from: number, to: number | null, isOk: boolean | null): Span {
  return {
    kind,
    name,
    started_at: certainTime(from),
    ended_at: timeText(to === null ? null : Math.max(from, to)),
    is_ok: to === null ? null : isOk,
  };
}

function compareTexts(left: string, right: string): number {
  return left === right ? 0 : left < right ? -1 : 1;
}
