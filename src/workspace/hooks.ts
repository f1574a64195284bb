import { createHash } from 'node:crypto';
import { BatonError } from '../core/baton-error.ts';
import { variableValue } from '../core/text/harmless-line.ts';
import { childEnvironment, usualVariables } from '../process/child-environment.ts';
import type { IsolationPlan } from '../process/isolation/isolation-plan.ts';
import { type RunRequest, type RunResult, runToEnd } from '../process/run-to-end.ts';
import type { ProcessDeps } from '../process/start-child.ts';
import type { RemovalVisit } from './workspace.ts';
import type { WorkspaceParts } from './workspace-parts.ts';

export type HookName = 'after_create' | 'before_run' | 'after_run' | 'before_remove' | 'workspace.setup';

/** How much of a failed hook's output an error carries. */
const longestOutput = 2_048;

interface HookPlace {
  readonly path: string;
  readonly visit: RemovalVisit;
}

/** Runs a hook and only logs its failure, with the issue and the run. */
export async function runHookAnyway(
  name: HookName,
  script: string,
  place: HookPlace,
  parts: WorkspaceParts,
): Promise<void> {
  try {
    await runHook(name, script, place, parts);
  } catch (error) {
    const { issue, runId } = place.visit;
    parts.logger.warn('hook_failed', {
      hook: name,
      issue_id: issue.id,
      issue_identifier: issue.identifier,
      ...(runId === null ? {} : { run_id: runId }),
      error,
    });
  }
}

/**
 * Runs a hook as `sh -lc` in the workspace. The script is the workflow's; issue text reaches it only as environment
 * variables. Rejects with `workspace_hook_failed` or `workspace_hook_timeout`; a hook that takes too long is ended with
 * everything it started.
 */
export async function runHook(name: HookName, script: string, place: HookPlace, parts: WorkspaceParts): Promise<void> {
  const { path, visit } = place;
  const { timeoutMs } = parts.hooks;
  const result = await runScript(
    {
      script,
      path,
      env: variablesOf(path, visit),
      runId: visit.runId ?? markerOf(path),
      timeoutMs,
      isolation: await isolationOf(path, parts),
      ...(visit.signal === undefined ? {} : { signal: visit.signal }),
    },
    parts,
  );
  const details = { hook: name, output: cut(`${result.stdout}${result.stderr}`) };
  if (result.timedOut) {
    throw new BatonError('workspace_hook_timeout', `The hook ${name} took longer than ${timeoutMs} ms.`, { details });
  }
  if (result.code !== 0) {
    const how = result.code === null ? `was ended by ${result.signal}` : `exited with code ${result.code}`;
    throw new BatonError('workspace_hook_failed', `The hook ${name} ${how}.`, {
      details: { ...details, status: result.code },
    });
  }
}

/** A hook works with the git directory of its workspace, as the agent does. */
async function isolationOf(path: string, { isolate, checkouts }: WorkspaceParts): Promise<IsolationPlan | null> {
  if (isolate === undefined) return null;
  const checkout = await checkouts.find(path).catch(() => null);
  return isolate({ workspace: path, writes: checkout === null ? [] : [checkout.gitDir], reads: [] });
}

/** Without a run, a marker made from the path of the workspace identifies the hook's processes. */
function markerOf(path: string): string {
  return `workspace-${createHash('sha256').update(path).digest('hex').slice(0, 32)}`;
}

function variablesOf(path: string, visit: RemovalVisit): Record<string, string> {
  return {
    ...issueVariables(visit.issue),
    BATON_WORKSPACE: path,
    BATON_ATTEMPT: visit.attempt === null ? '' : String(visit.attempt),
  };
}

/** An issue as a script of the workflow sees it. */
export function issueVariables({ id, identifier, title }: RemovalVisit['issue']): Record<string, string> {
  return {
    BATON_ISSUE_ID: variableValue(id),
    BATON_ISSUE_IDENTIFIER: variableValue(identifier),
    BATON_ISSUE_TITLE: variableValue(title),
  };
}

export type ScriptParts = ProcessDeps & Pick<WorkspaceParts, 'daemonEnv' | 'secretEnvironment' | 'redactor'>;

export interface Script extends Pick<RunRequest, 'runId' | 'timeoutMs' | 'signal' | 'maxOutputBytes'> {
  readonly script: string;
  readonly path: string;
  /** Beyond the usual variables. */
  readonly env: Readonly<Record<string, string>>;
  readonly isolation: IsolationPlan | null;
}

/**
 * Runs a script of the workflow to its end as `sh -lc`, without the secrets of trackers, and ends what it started. It may run
 * what an agent wrote, so its output is kept without the secrets that Baton knows.
 */
export async function runScript({ script, path, env, ...rest }: Script, parts: ScriptParts): Promise<RunResult> {
  const { daemonEnv: from, secretEnvironment: deny, redactor } = parts;
  const result = await runToEnd(
    {
      ...rest,
      command: 'sh',
      args: ['-lc', unsetting(deny, script)],
      cwd: path,
      env: childEnvironment({ from, allow: usualVariables, deny, add: env }),
    },
    parts,
  );
  return redactor?.redact(result) ?? result;
}

/** A login shell reads the user's profile, which may export a tracker secret again; this unsets it before the hook. */
function unsetting(names: readonly string[], script: string): string {
  const safe = names.filter((name) => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name));
  return safe.length === 0 ? script : `unset ${safe.join(' ')}\n${script}`;
}

/** The first part, and the hints at its end: they name the paths that the isolation hides, and the setting. */
function cut(output: string): string {
  if (output.length <= longestOutput) return output;
  const hints = output.slice(-longestOutput).match(/^baton: the isolation .*$/gm) ?? [];
  return [`${output.slice(0, longestOutput)}... (truncated)`, ...hints].join('\n');
}
