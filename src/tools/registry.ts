import type { ToolAnswer, ToolSet } from '../core/tool-set.ts';
import type { NativeTool, WrittenText } from '../tracker/tracker.ts';
import { askPerson } from './ask-person.ts';
import { claimLost, failureAnswer, tookTooLong, unknownTool, withdrawn } from './failure.ts';
import { comment, createPr, getIssue, reportProgress, updateIssueStatus } from './issue-tools.ts';
import { approvePr, rejectPr } from './judge-tools.ts';
import { limitCalls } from './limit-calls.ts';
import { approvePhase, completePhase, rejectPhase } from './phase-tools.ts';
import { createSubtasks } from './plan-tools.ts';
import { reportUsage } from './report-usage.ts';
import { proposeIssues, proposeLearnings, proposeSetup } from './task-tools.ts';
import { mostOutputBytes, type Tool, type ToolContext, timeLimitMs as usualLimitMs } from './tool.ts';

/** Users' prompts rely on these names: never change one. */
const fixedTools: readonly Tool[] = [
  getIssue,
  comment,
  updateIssueStatus,
  createPr,
  askPerson,
  reportProgress,
  reportUsage,
];

/** A judge has these and no others. */
const judgeTools: readonly Tool[] = [getIssue, approvePr, rejectPr, reportProgress, reportUsage];
const artifactJudgeTools: readonly Tool[] = [getIssue, approvePhase, rejectPhase, reportProgress, reportUsage];

/** A planner has these and no others. */
const plannerTools: readonly Tool[] = [getIssue, createSubtasks, reportProgress, reportUsage];

/** A phase agent has these and no others. */
const phaseTools: readonly Tool[] = [getIssue, comment, completePhase, askPerson, reportProgress, reportUsage];

/** The agent of a task that proposes issues has these and no others. */
const proposerTools: readonly Tool[] = [proposeIssues, reportProgress, reportUsage];

/** A learner has these and no others. */
const learnerTools: readonly Tool[] = [proposeLearnings, reportProgress, reportUsage];

/** The agent of a setup has these and no others. */
const setupTools: readonly Tool[] = [proposeSetup, reportProgress, reportUsage];

/**
 * Opens the tool set of one run. What must hold:
 *
 * - The offered tools are decided here, once: neither a reloaded workflow nor an agent changes them.
 * - A call always gets an answer, and soon: a tool that hangs is given up after its time limit. Only a person is waited
 *   for.
 * - Nothing is done for a run whose claim may be lost, or for a caller that is gone.
 * - The number of calls of a run at a time is limited, over both transports together.
 */
export function openToolSet(context: ToolContext): ToolSet {
  const offered = offeredTools(context);
  const names = [...offered.keys()];
  const set: ToolSet = {
    tools: [...offered.values()].map(({ name, description, inputSchema }) => ({ name, description, inputSchema })),
    call: async (name, input, signal) => {
      const tool = offered.get(name);
      const answer = tool === undefined ? unknownTool(name, names) : await answerOf(tool, input, context, signal);
      return { ...answer, output: capOutput(answer.output) };
    },
  };
  return limitCalls(set, (name, input) => (name === comment.name ? 1 : (offered.get(name)?.writesIn?.(input) ?? 0)));
}

function offeredTools(context: ToolContext): ReadonlyMap<string, Tool> {
  const { tracker, onUsage, onPropose } = context;
  const ofRole = toolsOfRole(context);
  const own = (ofRole ?? fixedTools).filter(
    (tool) =>
      (!tool.changesTracker || tracker.changes !== null) &&
      (tool !== reportUsage || onUsage !== undefined) &&
      (tool !== createPr || onPropose !== undefined),
  );
  if (ofRole !== null) return new Map(own.map((tool) => [tool.name, tool]));
  const isFree = ({ name }: Tool): boolean => fixedTools.every((fixed) => fixed.name !== name);
  const native = (tracker.nativeTools ?? []).map(fromNative).filter(isFree);
  return new Map([...own, ...native].map((tool) => [tool.name, tool]));
}

/** Null: a worker's. */
function toolsOfRole(context: ToolContext): readonly Tool[] | null {
  const { onOpinion, onComplete, onPlan, onProposeIssues, onProposeLearnings, onProposeSetup, judges } = context;
  if (onPlan !== undefined) return plannerTools;
  if (onProposeIssues !== undefined) return proposerTools;
  if (onProposeLearnings !== undefined) return learnerTools;
  if (onProposeSetup !== undefined) return setupTools;
  if (onOpinion !== undefined) return judges === 'artifact' ? artifactJudgeTools : judgeTools;
  return onComplete === undefined ? null : phaseTools;
}

/** Never rejects. */
function answerOf(tool: Tool, input: unknown, context: ToolContext, signal?: AbortSignal): Promise<ToolAnswer> {
  const { name, timeLimitMs, changesTracker } = tool;
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve(withdrawn(name));
    const stop = new AbortController();
    const end = (answer: ToolAnswer): void => {
      timer?.cancel();
      signal?.removeEventListener('abort', leave);
      resolve(answer);
    };
    const giveUp = (answer: ToolAnswer): void => {
      end(answer);
      stop.abort();
    };
    const leave = (): void => giveUp(withdrawn(name));
    signal?.addEventListener('abort', leave, { once: true });
    const timer =
      timeLimitMs === null
        ? null
        : context.clock.schedule(timeLimitMs, () => giveUp(tookTooLong(name, timeLimitMs, changesTracker)));
    begin(tool, input, context, stop.signal).then(end, (thrown) => end(failureAnswer(thrown)));
  });
}

async function begin(tool: Tool, input: unknown, context: ToolContext, signal: AbortSignal): Promise<ToolAnswer> {
  if (!context.isStillOurs()) return claimLost();
  const { issueId, runId, trust, steers } = context;
  const onWrite = async (text: WrittenText) => trust?.note(text, runId);
  const run = { issueId, onWrite, ...(steers === undefined ? {} : { steers }) };
  return tool.call(input, context, { signal, caller: { job: 'agent_tools', cause: 'agent' }, run });
}

/** Wraps a tool of the tracker itself as a tool of the registry: it keeps its name, its schema and its description. */
function fromNative(native: NativeTool): Tool {
  const { name, description, inputSchema } = native;
  return {
    name,
    description,
    inputSchema,
    timeLimitMs: usualLimitMs,
    // Its input is in the tracker's own language, so any call may be a change.
    changesTracker: true,
    ...(native.writesIn === undefined ? {} : { writesIn: native.writesIn }),
    call: async (input, { onMove, onNotMoved }, ask) => {
      if (native.mayChange?.(input) !== true) return native.call(input, ask);
      onMove(null);
      const answer = await native.call(input, ask);
      if (!answer.success) onNotMoved();
      return answer;
    },
  };
}

/** The text, or its beginning with a note that says how much is missing. Never cut inside a character. */
function capOutput(text: string): string {
  // A UTF-16 unit is at most three bytes of UTF-8: most texts are not measured at all.
  if (text.length * 3 <= mostOutputBytes) return text;
  const bytes = Buffer.from(text);
  if (bytes.length <= mostOutputBytes) return text;
  const kept = new TextDecoder().decode(bytes.subarray(0, mostOutputBytes), { stream: true });
  return `${kept}\n[cut by Baton: the first ${mostOutputBytes} of ${bytes.length} bytes; ask for less]`;
}
