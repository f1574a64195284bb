import { type Finding, failed, passed } from '../../../core/finding.ts';
import type { Settings } from '../../../core/settings.ts';
import { harmlessLine } from '../../../core/text/harmless-line.ts';
import { isNameless, namelessFinding } from '../../git-identity.ts';
import { CodexRefusal } from '../wire/connection.ts';
import { type CodexProbe, isUnknownHere, type SandboxedEnd } from './codex-probe.ts';
import type { CodexScratch } from './codex-scratch.ts';

const check = 'codex_commit';

/** An identity for the commit if git has none, so that the check can still try the sandbox. */
const identity = '-c user.name=Doctor -c user.email=doctor@localhost.invalid';

/**
 * Checks whether the agent can commit in the sandbox of its turns. The commit uses the git configuration of this user,
 * as an agent's commit does, so the check also finds a missing name or a signature that cannot be made.
 */
export async function checkCodexCommit(
  codex: CodexProbe,
  settings: Settings,
  scratch: CodexScratch,
): Promise<readonly Finding[]> {
  const { type } = codex.sandbox;
  try {
    if (type === 'readOnly') return [readOnly(await codex.runInSandbox(['git', '--version']))];
    const first = await codex.runInSandbox(commit(''));
    if (!isNameless(first.exitCode, first.stderr)) return [await judge(first, type, scratch)];
    return [await judge(await codex.runInSandbox(commit(identity)), type, scratch), namelessFinding(settings)];
  } catch (error) {
    if (!(error instanceof CodexRefusal)) throw error;
    if (isUnknownHere(error)) {
      return [
        passed(check, 'not checked: this version of Codex cannot run a command without a turn', { code: 'not_tried' }),
      ];
    }
    return [failed(check, harmlessLine(error.message), 'fix codex.turn_sandbox_policy', { code: 'refused' })];
  }
}

/** The text needs no quoting: no part of it comes from outside. */
function commit(options: string): readonly string[] {
  return ['sh', '-c', `echo tried > tried.txt && git add --all && git ${options} commit --quiet --message=tried`];
}

async function judge(end: SandboxedEnd, type: string, scratch: CodexScratch): Promise<Finding> {
  if (end.exitCode !== 0) return commitFailed(end);
  if (!(await scratch.hasCommit())) {
    return failed(check, 'Codex reported a commit, but the repository has none', 'use another version of Codex', {
      code: 'no_commit',
    });
  }
  return passed(check, sandboxMeaning(type), { sandbox: type });
}

function sandboxMeaning(type: string): string {
  if (type === 'dangerFullAccess') return 'works without a sandbox: the agent may do everything that your user may do';
  if (type === 'externalSandbox') return 'works; Codex relies on an external sandbox';
  return 'works in the sandbox, also with the git directory outside of the workspace';
}

function readOnly(end: SandboxedEnd): Finding {
  if (end.exitCode !== 0) return commitFailed(end);
  const message = 'not checked: in a read-only sandbox the agent can neither change files nor commit';
  return passed(check, message, { code: 'read_only' });
}

function commitFailed({ exitCode, stderr, stdout }: SandboxedEnd): Finding {
  const words = harmlessLine(stderr.trim() || stdout).slice(0, 300) || `exit code ${exitCode ?? 'unknown'}`;
  if (/\bbwrap\b|bubblewrap|landlock|seccomp|unshare|namespace/i.test(words))
    return failed(check, `Codex cannot create its sandbox on this machine: ${words}`, sandboxFix, {
      code: 'no_sandbox_here',
    });
  if (/\bgpg\b|sign/i.test(words)) {
    const fix = "hooks.after_create: 'git config commit.gpgsign false'";
    return failed(check, `the commit cannot be signed: ${words}`, fix, { code: 'not_signed' });
  }
  const fix = 'fix codex.turn_sandbox_policy, or the problem that git reports';
  return failed(check, `a commit fails in the sandbox: ${words}`, fix, { code: 'commit_failed', exit_code: exitCode });
}

const sandboxFix =
  'allow your user to create namespaces (sysctl kernel.apparmor_restrict_unprivileged_userns=0, user.max_user_namespaces), or, ' +
  'if something else isolates the agent, set codex.thread_sandbox: danger-full-access';
