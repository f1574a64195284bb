import { BatonError, toBatonError } from '../core/baton-error.ts';
import type { NewComments } from '../core/command/message-text.ts';
import type { Issue } from '../core/issue/issue.ts';
import { hasOwnCheckout } from '../core/run/role.ts';
import { lastStage, type RunOutcome, type StopReason } from '../core/run/run.ts';
import { stopOutcome } from '../core/run/stop-outcome.ts';
import type { WorkspaceVisit } from '../workspace/workspace.ts';
import { asWorkspaces, judgePrompt, type RunCheckout } from './judge-run.ts';
import { artifactFolder, phaseJudgePrompt, phasePrompt } from './phase-run.ts';
import { partsPrompt, plannerPrompt } from './planner-run.ts';
import { withLearnings } from './prompts.ts';
import { type RunnerParts, type RunParts, runSession } from './run-session.ts';
import type { LiveRun, RunFact, Runner, RunRequest } from './runner.ts';
import { setupPrompt } from './setup-run.ts';
import { Steering } from './steering.ts';
import { taskPrompt } from './task-run.ts';

export function createRunner(parts: RunnerParts): Runner {
  return { start: (request) => startRun(request, parts) };
}

function startRun(request: RunRequest, parts: RunnerParts): LiveRun {
  const stop = new AbortController();
  const steering = new Steering();
  const { issue, runId } = request;
  const logger = parts.logger.child({ issue_id: issue.id, issue_identifier: issue.identifier, run_id: runId });
  let reason: StopReason | null = null;
  let turns = 0;
  // A listener that throws must not break the run or keep its agent alive.
  const report = (fact: RunFact): void => {
    if (fact.kind === 'turn') turns = fact.turn;
    try {
      request.report(fact);
    } catch (error) {
      logger.error('run_watcher_failed', { error });
    }
  };
  const endSteering = (): void => {
    const undelivered = steering.close().length;
    if (undelivered > 0) logger.warn('message_not_delivered', { texts: undelivered });
  };
  const conclude = (error: BatonError | null): RunOutcome => {
    endSteering();
    const outcome = outcomeOf(reason, error, turns);
    report({ kind: 'stage', stage: lastStage(outcome.end) });
    return outcome;
  };
  return {
    outcome: runIssue({ request: { ...request, report }, parts, logger, steering, signal: stop.signal }).then(
      () => conclude(null),
      (thrown) => conclude(toBatonError(thrown)),
    ),
    steer: (text) => steering.steer(text),
    canHear: () => steering.canHear,
    stop: (why) => {
      reason ??= why;
      endSteering();
      stop.abort();
    },
  };
}

/** One run from its first stage to its last; rejects with the error of the stage that failed. */
async function runIssue(run: RunParts): Promise<void> {
  const { request, parts, signal } = run;
  const { workflow, runId, attempt, report } = request;
  const vouched = request.task === null ? parts.vouched : undefined;
  const issue = (await vouched?.(workflow.settings, request.issue, signal)) ?? request.issue;
  if (hasOwnCheckout(request.role)) return inCheckout(run, issue);
  const workspaces = parts.workspacesFor(workflow.settings);
  report({ kind: 'stage', stage: 'preparing_workspace' });
  const visit: WorkspaceVisit = { issue, runId, attempt, branch: workflow.renderBranch(issue), signal };
  const workspace = await workspaces.prepare(visit);
  report({ kind: 'workspace', path: workspace.path });
  try {
    signal.throwIfAborted();
    await workspaces.beforeRun(workspace, visit);
    const folder = artifactFolder(request);
    if (folder !== null) await workspaces.keepOut(workspace, folder);
    const comments = await newComments(run);
    // Read after the hook, whose changes are not the agent's.
    const before = await workspaces.examine(
      workspace.path,
      isAddressed(request, comments) ? { commits: 20, into: request.into } : {},
    );
    report({ kind: 'stage', stage: 'building_prompt' });
    // Rendered before the launch: a mistake in the template must not start an agent (row 1.5 of the reference).
    const { retryKind } = request;
    const fenceMark = parts.chance.id();
    const { role, phase } = request;
    const template = workflow.renderPrompt({ issue, role, phase: phase?.name ?? null, attempt, retryKind, fenceMark });
    const ofPhase = phase === null ? template : phasePrompt(template, phase, fenceMark);
    const ofParts = request.parts.length === 0 ? ofPhase : partsPrompt(ofPhase, request.parts, fenceMark);
    const whole = withLearnings(ofParts, request.learnings, fenceMark);
    await workspaces.verify(workspace, visit);
    signal.throwIfAborted();
    report({ kind: 'stage', stage: 'launching_agent_process' });
    await runSession(run, { workspaces, workspace, before, whole, fenceMark, comments });
  } finally {
    const { signal: _stopsTheRunButNotTheHook, ...lastVisit } = visit;
    const publication = await workspaces.afterRun(workspace, lastVisit);
    if (publication !== null) report({ kind: 'published', publication });
  }
}

/** The run of a judge, a planner or a task: in a clean checkout, which is compared and deleted afterwards. */
async function inCheckout(run: RunParts, issue: Issue): Promise<void> {
  const { request, parts, signal } = run;
  const { workflow, attempt, judged, phase, report, retryKind, role } = request;
  if (parts.checkoutFor === undefined) throw new BatonError('internal_error', 'This runner has no checkouts.');
  report({ kind: 'stage', stage: 'preparing_workspace' });
  await using checkout = await parts.checkoutFor(workflow.settings, judged, signal);
  const workspaces = asWorkspaces(checkout);
  const before = await workspaces.examine(checkout.folder);
  report({ kind: 'stage', stage: 'building_prompt' });
  const fenceMark = parts.chance.id();
  const template = workflow.renderPrompt({ issue, role, phase: phase?.name ?? null, attempt, retryKind, fenceMark });
  const whole = wholePrompt(request, checkout, template, fenceMark);
  signal.throwIfAborted();
  report({ kind: 'stage', stage: 'launching_agent_process' });
  const workspace = { path: checkout.folder, created: true, gitDir: null };
  const { commit } = checkout;
  await runSession(run, { workspaces, workspace, before, whole, fenceMark, comments: noComments, commit });
}

function wholePrompt(request: RunRequest, { diff }: RunCheckout, template: string, mark: string): string {
  const { judged, phase, role, task, workflow } = request;
  if (task?.task.kind === 'setup') return setupPrompt(template, workflow.settings);
  if (task !== null) return taskPrompt(template, task, mark);
  if (role === 'planner') return plannerPrompt(template, request);
  if (judged !== null) return judgePrompt(template, judged, diff, mark);
  if (phase !== null) return phaseJudgePrompt(template, phase, mark);
  throw new BatonError('internal_error', 'This judge has nothing to judge.');
}

const noComments: NewComments = { comments: [], hasEarlier: false };

/** With one read, and only after an earlier run. Null: it failed, and the run does without; the next one reads them. */
async function newComments({ request, parts, logger, signal }: RunParts): Promise<NewComments | null> {
  const { commentsSince: since, issue, workflow } = request;
  if (since === null || parts.readComments === undefined) return noComments;
  try {
    return await parts.readComments(workflow.settings, { issueId: issue.id, since }, signal);
  } catch (error) {
    signal.throwIfAborted();
    logger.warn('comments_unread', { error });
    return null;
  }
}

/** Whether the agent hears something about earlier work. Then it also hears of the commits that exist. */
function isAddressed({ messages, retryKind }: RunRequest, comments: NewComments | null): boolean {
  if (retryKind === 'revision') return true;
  return messages.length > 0 || comments === null || comments.comments.length > 0;
}

/** An error after a stop is caused by the stop, except that the agent is still alive. */
function outcomeOf(reason: StopReason | null, error: BatonError | null, turns: number): RunOutcome {
  const survives = error?.code === 'agent_survives';
  if (reason !== null && !survives) return stopOutcome(reason, turns);
  if (error === null) return { end: 'succeeded', turns };
  if (error.code === 'claim_lost') return stopOutcome('claim_lost', turns);
  return { end: error.code === 'agent_turn_timeout' ? 'timed_out' : 'failed', turns, error };
}
