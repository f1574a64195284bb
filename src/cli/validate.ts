import path from 'node:path';
import type { Problem } from '../core/problem.ts';
import { type RoleCost, roleCosts } from '../core/run/role-costs.ts';
import type { Settings } from '../core/settings.ts';
import { findBackend, workflowContext } from '../daemon/adapters.ts';
import { agentEnvironmentText, describeAgentEnvironment } from '../daemon/agent-environment.ts';
import type { Surroundings } from '../daemon/surroundings.ts';
import type { LoadedWorkflow } from '../workflow/load-workflow.ts';
import { workflowSchema } from '../workflow/table/workflow-schema.ts';
import { exitCodes } from './exit-codes.ts';
import { inspectFile } from './inspect-file.ts';

/**
 * `baton validate`: what is wrong with a workflow file, its settings with the origin of each, and which environment
 * variables an agent gets.
 */
export async function validate(
  workflow: string,
  flags: { readonly json?: boolean },
  surroundings: Surroundings,
): Promise<number> {
  const file = path.resolve(surroundings.cwd, workflow);
  const context = workflowContext(surroundings, undefined);
  const { workflow: loaded, problems } = await inspectFile(file, undefined, surroundings);
  const errors = problems.filter(({ severity }) => severity === 'error');
  const warnings = problems.filter(({ severity }) => severity === 'warning');
  const valid = errors.length === 0;
  const environment = loaded && describeAgentEnvironment(loaded.settings, context.backends, surroundings.env);
  if (flags.json) {
    const settings = loaded?.described ?? null;
    const report = {
      path: file,
      valid,
      errors,
      warnings,
      settings,
      agent_environment: environment,
      costs: costsOf(loaded).map(({ role, runsPerDay: runs_per_day, usdPerDay: usd_per_day, text }) => ({
        role,
        runs_per_day,
        usd_per_day,
        text,
      })),
      agent_needs: loaded && needsOf(loaded.settings, surroundings),
      needs_of_agents: loaded && Object.fromEntries(needsOfAgents(loaded.settings, surroundings)),
    };
    surroundings.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
  } else {
    if (loaded !== null) surroundings.stdout.write(settingsTable(loaded));
    if (environment !== null) surroundings.stdout.write(agentEnvironmentText(environment));
    if (loaded !== null) surroundings.stdout.write(allNeedsText(loaded.settings, surroundings));
    surroundings.stdout.write(costsText(loaded));
    surroundings.stderr.write([...warnings, ...errors].map(problemLine).join(''));
    const verdict = valid ? 'is valid' : `is not valid: ${errors.length} ${errors.length === 1 ? 'error' : 'errors'}`;
    (valid ? surroundings.stdout : surroundings.stderr).write(`${file} ${verdict}\n`);
  }
  return valid ? exitCodes.ok : exitCodes.error;
}

/** `baton schema`: the JSON Schema of the front matter. It is JSON with and without `--json`. */
export function schema(_flags: unknown, surroundings: Surroundings): number {
  surroundings.stdout.write(`${JSON.stringify(workflowSchema(workflowContext(surroundings, undefined)), null, 2)}\n`);
  return exitCodes.ok;
}

function costsOf(loaded: LoadedWorkflow | null): readonly RoleCost[] {
  return loaded === null ? [] : roleCosts(loaded.settings);
}

function costsText(loaded: LoadedWorkflow | null): string {
  return costsOf(loaded)
    .map(({ text }) => `${text}\n\n`)
    .join('');
}

function settingsTable({ described }: LoadedWorkflow): string {
  const rows = described.map(({ key, value, origin }) => [key, shown(value), origin] as const);
  const width = (column: 0 | 1): number => Math.max(...rows.map((row) => row[column].length));
  const [keys, values] = [width(0), Math.min(width(1), 60)];
  return rows.map(([key, value, origin]) => `${key.padEnd(keys)}  ${value.padEnd(values)}  ${origin}\n`).join('');
}

/** What the backend needs beyond the workspace; null where Baton cannot know, because any program may be the agent. */
function needsOfAgents({ agents }: Settings, surroundings: Surroundings) {
  return Object.entries(agents).map(([name, { settings }]) => [name, needsOf(settings, surroundings)] as const);
}

function needsOf(settings: Settings, surroundings: Surroundings) {
  const { needs: needsIn, hasReadOnlyMode, docs } = findBackend(settings.agent.backend, surroundings);
  const needs = needsIn(settings);
  return { paths: needs?.paths ?? null, hosts: needs?.hosts ?? null, has_read_only_mode: hasReadOnlyMode, docs };
}

function allNeedsText(settings: Settings, surroundings: Surroundings): string {
  const named = needsOfAgents(settings, surroundings).map(([name, needs]) => needsText(`The agent "${name}"`, needs));
  return [needsText('The agent', needsOf(settings, surroundings)), ...named].join('');
}

function needsText(who: string, found: ReturnType<typeof needsOf>): string {
  const { paths, hosts, has_read_only_mode: hasReadOnlyMode, docs } = found;
  const list = (names: readonly string[] | null): string => (names === null ? 'not known' : names.join(' ') || '-');
  const rows = [`paths ${list(paths)}`, `hosts ${list(hosts)}`, `read-only mode ${hasReadOnlyMode ? 'yes' : 'no'}`];
  return `${who} (${docs}) needs: ${rows.join('; ')}\n\n`;
}

function shown(value: unknown): string {
  return value === null || value === undefined ? '-' : JSON.stringify(value);
}

/** As every command prints a problem of a workflow file. */
export function problemLine({ severity, code, message }: Problem): string {
  return `${severity}: ${message} [${code}]\n`;
}
