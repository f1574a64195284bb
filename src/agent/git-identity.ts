import { type Finding, failed, passed } from '../core/finding.ts';
import type { Settings } from '../core/settings.ts';
import { childEnvironment, usualVariables } from '../process/child-environment.ts';
import { runToEnd } from '../process/run-to-end.ts';
import type { AgentDoctorParts } from './backend.ts';

const check = 'git_identity';
const checkTimeoutMs = 10_000;

/** Another check reports a missing git. */
const withoutGit = { code: 0, stderr: '' };

/**
 * Warns when a commit of an agent would fail because git has no name and address for it. The agent gets only the user's
 * own git configuration, so git is asked outside any repository.
 */
export async function checkGitIdentity(parts: AgentDoctorParts): Promise<readonly Finding[]> {
  const { settings, process, chance, env } = parts;
  const { repo, strategy } = settings.workspace;
  const [account] = settings.agent.accounts;
  if (repo === null || strategy === 'none' || account === undefined) return [];
  const { allowEnv: names, accountEnv: add, denyEnv: deny } = parts.partsFor(account);
  const { code, stderr } = await runToEnd(
    {
      command: 'git',
      args: ['var', 'GIT_COMMITTER_IDENT'],
      cwd: '/',
      env: childEnvironment({ from: env, allow: [...usualVariables, ...names], deny, add: { ...add, LC_ALL: 'C' } }),
      runId: chance.id(),
      timeoutMs: checkTimeoutMs,
    },
    process,
  ).catch(() => withoutGit);
  if (!isNameless(code, stderr)) return [];
  const finding = namelessFinding(settings);
  return [finding.status === 'failed' ? { ...finding, status: 'warning' } : finding];
}

export function isNameless(exitCode: number | null, stderr: string): boolean {
  return exitCode !== 0 && /tell me who you are|auto-detect email|empty ident/i.test(stderr);
}

/** A script of the workflow file may set a name; only a run shows whether it does. */
export function namelessFinding({ hooks, workspace }: Settings): Finding {
  const message = 'git has no name and address for your commits';
  const scripts = [hooks.afterCreate, hooks.beforeRun, workspace.setup].filter((script) => script !== null);
  if (scripts.some((script) => /user\.(name|email)/.test(script)))
    return passed(check, `${message}; a script in the workflow file may set them`, { code: 'set_by_script' });
  const fix = "git config --global user.name 'NAME' && git config --global user.email 'ADDRESS'";
  return failed(check, message, fix, { code: 'unknown' });
}
