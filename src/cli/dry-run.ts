import path from 'node:path';
import type { Status } from '../client/schema/status.ts';
import { BatonError, toBatonError } from '../core/baton-error.ts';
import type { DispatchDecision } from '../core/dispatch/dispatch-plan.ts';
import type { Problem } from '../core/problem.ts';
import { roleOf } from '../core/run/role.ts';
import { harmlessLine, harmlessLines } from '../core/text/harmless-line.ts';
import { workflowContext } from '../daemon/adapters.ts';
import { daemonStatus } from '../daemon/ask-daemon.ts';
import { createDaemon } from '../daemon/daemon.ts';
import { fairShares } from '../daemon/projects/fair-shares.ts';
import { quietLogger } from '../daemon/quiet-logger.ts';
import type { Surroundings } from '../daemon/surroundings.ts';
import type { OtherClaim } from '../orchestrator/dispatch/gates.ts';
import { loadWorkflow } from '../workflow/load-workflow.ts';
import { exitCodes } from './exit-codes.ts';
import { inspectFile } from './inspect-file.ts';
import { jsonLine } from './json-line.ts';
import { type StartFlags, trialOf } from './start.ts';
import { problemLine } from './validate.ts';

/**
 * `baton start --dry-run`: what would start, and why the rest would not; several files one after the other. Starts
 * nothing. A problem in one of several files does not hide the others, and makes the exit code 1.
 */
export async function dryRun(
  workflows: readonly string[],
  flags: StartFlags,
  surroundings: Surroundings,
): Promise<number> {
  const { stdout, stderr } = surroundings;
  const projects: ProjectPlan[] = [];
  for (const workflow of workflows) projects.push(await planOf(workflow, flags, surroundings));
  if (!flags.json) stderr.write(projects.flatMap(({ warnings }) => warnings.map(problemLine)).join(''));
  const [only, ...more] = projects;
  if (only !== undefined && more.length === 0) {
    if (only.error !== null) throw only.error;
    const { plan } = withinLimit([only], flags.maxAgents ?? null)[0] ?? only;
    stdout.write(flags.json ? jsonLine({ plan: plan.map(presented), warnings: only.warnings }) : text(plan));
    return exitCodes.ok;
  }
  const good = projects.filter(({ error }) => error === null);
  const limit = flags.maxAgents ?? Math.max(0, ...good.map(({ most }) => most));
  const bounded = new Map(withinLimit(good, limit).map((each) => [each.workflow, each]));
  const shown = projects.map((each) => bounded.get(each.workflow) ?? each);
  stdout.write(flags.json ? jsonLine({ projects: shown.map(presentedProject) }) : shown.map(projectText).join('\n'));
  return good.length === projects.length ? exitCodes.ok : exitCodes.error;
}

/** What one workflow file would start. */
interface ProjectPlan {
  readonly workflow: string;
  readonly project: string | null;
  readonly plan: readonly DispatchDecision[];
  /** How many runs a running daemon has now. */
  readonly running: number;
  readonly most: number;
  /** What `baton validate` warns of. */
  readonly warnings: readonly Problem[];
  /** Why there is no plan. */
  readonly error: BatonError | null;
}

async function planOf(workflow: string, flags: StartFlags, surroundings: Surroundings): Promise<ProjectPlan> {
  const workflowPath = path.resolve(surroundings.cwd, workflow);
  const found = { workflow: workflowPath, project: null, plan: [], running: 0, most: 0, warnings: [], error: null };
  const { stateDir } = flags;
  const options = { workflowPath, stateDir, trial: trialOf(flags), role: 'visitor', logger: quietLogger } as const;
  const { workflow: loaded, problems } = await inspectFile(workflowPath, stateDir, surroundings);
  const warnings = problems.filter(({ severity }) => severity === 'warning');
  const unusable = problems.find(({ details }) => details?.problem === 'host_unusable');
  try {
    if (unusable !== undefined) throw new BatonError('listener_failed', unusable.message);
    const { settings } = loaded ?? loadWorkflow(workflowPath, workflowContext(surroundings, stateDir));
    await using visitor = await createDaemon(options, surroundings);
    const status = await daemonStatus({ workflow, ...(stateDir === undefined ? {} : { stateDir }) }, surroundings);
    const claims = claimsIn(status);
    return {
      ...found,
      project: settings.project.name,
      plan: await visitor.orchestrator.preview(claims),
      running: claims.filter(({ slot }) => slot !== null).length,
      most: settings.agent.maxConcurrentAgents,
      warnings,
    };
  } catch (thrown) {
    return { ...found, warnings, error: toBatonError(thrown) };
  }
}

/** The plans, reduced to the shared slots. */
function withinLimit(projects: readonly ProjectPlan[], limit: number | null): readonly ProjectPlan[] {
  if (limit === null) return projects;
  const wants = projects.map(({ plan, running }) => ({
    held: running,
    wanted: plan.filter(({ reason }) => reason === null).length,
  }));
  const shares = fairShares(wants, limit);
  const reason = {
    code: 'global_full',
    text: `Baton already runs as many agents as it may (${limit} of ${limit})`,
  } as const;
  return projects.map((each, index) => {
    let left = shares[index] ?? 0;
    const plan = each.plan.map((decision) => {
      if (decision.reason !== null) return decision;
      left -= 1;
      return left >= 0 ? decision : { ...decision, reason };
    });
    return { ...each, plan };
  });
}

/** The claims of a running daemon, from its status; held issues are in the store. */
function claimsIn(status: Status | null): OtherClaim[] {
  if (status === null) return [];
  const { running, retrying } = status;
  return [
    ...running.map(({ issue_id, state, role }) => ({
      issueId: issue_id,
      slot: { state, role: roleOf(role) },
      why: 'an agent is running on it',
    })),
    ...retrying.map(({ issue_id }) => ({ issueId: issue_id, slot: null, why: 'it waits for its retry' })),
  ];
}

function text(plan: readonly DispatchDecision[]): string {
  if (plan.length === 0) return 'No issue is in an active state, so nothing would start.\n';
  return plan
    .map(({ issue, reason }) => {
      const name = harmlessLine(`${issue.identifier}  ${issue.title}`);
      return reason === null ? `would start  ${name}\n` : `would wait   ${name}: ${harmlessLine(reason.text)}\n`;
    })
    .join('');
}

function presented({ issue, reason }: DispatchDecision): Record<string, unknown> {
  const { id, identifier, title, state } = issue;
  return {
    issue_id: id,
    issue_identifier: identifier,
    title,
    state,
    starts: reason === null,
    code: reason?.code ?? null,
    reason: reason?.text ?? null,
  };
}

function projectText({ workflow, project, plan, error }: ProjectPlan): string {
  const name = project === null ? '' : ` (${project})`;
  const lines = error === null ? text(plan) : `cannot start: ${harmlessLines(error.message)} [${error.code}]\n`;
  return `${harmlessLine(`${workflow}${name}`)}\n${lines}`;
}

function presentedProject({ workflow, project, plan, warnings, error }: ProjectPlan): Record<string, unknown> {
  return { workflow, project, warnings, ...(error === null ? { plan: plan.map(presented) } : { error }) };
}
