import type { AgentEvent } from '../../agent/agent.ts';
import { normalizeState } from '../../core/issue/issue.ts';
import { noEvidence } from '../../core/run/run-evidence.ts';
import type { RunFact } from '../../runner/runner.ts';
import type { BegunRun } from '../claims/begin-run.ts';
import type { Running } from '../claims/claim.ts';
import type { Claims } from '../claims/claims.ts';
import type { EnvironmentWatch } from '../dispatch/environment.ts';
import type { BaseParts } from '../parts.ts';
import type { Candidates } from '../poll/candidates.ts';
import type { ChangeMarks } from '../poll/change-marks.ts';
import type { TrackerReads } from '../poll/tracker-reads.ts';
import type { Accounts } from './accounts.ts';
import { checkLimits, type LimitParts } from './check-limits.ts';
import type { Journal } from './journal.ts';
import type { RunState } from './run-state.ts';
import type { RunTotals } from './run-totals.ts';
import { usageAfter } from './run-usage.ts';

export interface RecordFactsParts extends LimitParts, Pick<BaseParts, 'clock' | 'notify' | 'store'> {
  readonly claims: Claims;
  readonly journal: Journal;
  readonly accounts: Accounts;
  readonly environment: EnvironmentWatch;
  readonly candidates: Candidates;
  readonly marks: ChangeMarks;
  readonly reads: TrackerReads;
  readonly totals: RunTotals;
}

/**
 * Writes the reports of a run into its state and its journal. A run that is not the issue's current one changes no
 * state; the journal decides for itself which runs it takes notes for.
 */
export function recordFacts(
  parts: RecordFactsParts,
  running: Running,
  { messages, answers }: Pick<BegunRun, 'messages' | 'answers'>,
): (fact: RunFact) => void {
  const { claims, journal, clock, reads, own } = parts;
  const { runId } = running;
  const { id } = running.issue;
  let evidence = noEvidence;
  let movedBefore: RunState['ownMove'] = null;
  const isCurrent = (): boolean => claims.get(id) === running;
  const update = (change: Partial<RunState>): void => {
    if (!isCurrent()) return;
    Object.assign(running, change);
    parts.notify();
  };
  const promptDelivered = (hasComments: boolean): void => {
    update({ hasBegun: true });
    if (isCurrent()) parts.environment.goodStart(running);
    if (hasComments) update({ commentsUntil: running.startedAt });
    const [given, answered] = [messages, answers].map((each) => each.map(({ id: one }) => one));
    if (answered?.length) own('answers', parts.store.questions.deliver(answered, runId));
    if (!given?.length) return;
    journal.note(runId, { given });
    // Written at once: people see that it arrived.
    own('journal', journal.flush());
  };
  const recordEvent = (event: AgentEvent): void => {
    // Words of a person do not show that the agent is alive, or what it does.
    if (!isCurrent() || event.name === 'person_said') {
      journal.note(runId, {}, event);
      return;
    }
    const { account, startedAt } = running;
    if (event.quota !== undefined && account !== null) parts.accounts.report(account, event.quota);
    if (event.rateLimits !== undefined && account !== null) parts.accounts.keepReport(account, event.rateLimits);
    if (event.name === 'turn_completed' && account !== null)
      own('account', parts.accounts.turnCompleted({ runId, account, startedAt }));
    const change = eventChange(parts, running, event);
    journal.note(runId, change.usage ?? {}, event);
    const hadAnswer = running.usage.totalTokens > 0;
    update(change);
    if (!hadAnswer && running.usage.totalTokens > 0) parts.environment.goodStart(running);
    if (event.usage !== undefined) checkLimits(parts, running);
  };
  return (fact) => {
    switch (fact.kind) {
      case 'stage':
        // Only for the journal: a new stage is progress of Baton and does not show that the agent is alive.
        journal.note(runId, {}, { name: 'stage_changed', at: clock.now(), pid: null, summary: fact.stage });
        return update({ stage: fact.stage });
      case 'workspace':
        journal.note(runId, { workspace: fact.path });
        return update({ workspace: fact.path });
      case 'process':
        if (fact.process !== null) journal.note(runId, { pid: fact.process.pid, pidStartTime: fact.process.startTime });
        return update({ process: fact.process, processMissedAt: null });
      case 'session':
        journal.note(runId, { threadId: fact.threadId });
        // Written at once, not with the next flush: after a crash the next run resumes this conversation.
        own('journal', journal.flush());
        return update({ threadId: fact.threadId });
      case 'turn':
        journal.note(runId, { turns: fact.turn });
        return update({ turn: fact.turn });
      case 'message':
        return journal.note(runId, { lastMessage: fact.text });
      case 'prompt_delivered':
        return promptDelivered(fact.hasComments);
      case 'event':
        return recordEvent(fact.event);
      case 'moved':
        reads.forget(id);
        if (fact.to !== null) parts.candidates.countReview(id, fact.to);
        movedBefore = isCurrent() ? running.ownMove : null;
        return update({
          ownMove: { to: fact.to === null ? null : normalizeState(fact.to), atMonotonic: clock.monotonic() },
        });
      case 'not_moved':
        reads.forget(id);
        return update({ ownMove: movedBefore });
      case 'opinion':
        return update({ opinion: fact.opinion });
      case 'left':
        return update({ lastSeen: fact.issue });
      case 'changed':
        evidence = {
          ...evidence,
          changed: fact.changed,
          fingerprint: fact.facts?.fingerprint ?? null,
          git: fact.facts?.git ?? null,
        };
        journal.note(runId, { evidence });
        return update({ changed: fact.changed, committed: fact.committed ?? null, evidence });
      case 'published':
        evidence = { ...evidence, publication: fact.publication };
        parts.marks.note(id, fact.publication);
        journal.note(runId, { evidence });
        return update({ evidence });
      case 'proposed':
        evidence = { ...evidence, proposal: { title: fact.title, body: fact.body } };
        return journal.note(runId, { evidence });
    }
  };
}

/** It says nothing about what the agent does, so the event before it stays. All backends report usage alone under this name. */
function hasOnlyUsage(payload: unknown): boolean {
  return (
    typeof payload === 'object' &&
    payload !== null &&
    'method' in payload &&
    payload.method === 'thread/tokenUsage/updated'
  );
}

/** The totals grow by the increase since the last report. */
function eventChange({ clock, totals }: RecordFactsParts, running: Running, event: AgentEvent): Partial<RunState> {
  // The transcript has the payload, which may be large.
  const { payload, rateLimits: _kept, ...rest } = event;
  const { lastEvent: earlier } = running;
  const lastEvent = earlier !== null && hasOnlyUsage(payload) ? { ...earlier, at: event.at } : rest;
  const seen = { lastEvent, lastEventAtMonotonic: clock.monotonic() };
  if (event.usage === undefined) return seen;
  const before = running.usage;
  const usage = usageAfter(before, event.usage, running.workflow.settings.agent.prices);
  totals.inputTokens += usage.inputTokens - before.inputTokens;
  totals.outputTokens += usage.outputTokens - before.outputTokens;
  totals.totalTokens += usage.totalTokens - before.totalTokens;
  return { ...seen, usage };
}
