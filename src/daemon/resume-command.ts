import { codexResumeCommand } from '../agent/codex/resume-command.ts';
import { sandboxModeOf } from '../agent/codex/session/policies.ts';
import { codexSettings } from '../agent/codex/settings.ts';
import type { Settings } from '../core/settings.ts';
import type { RunRecord } from '../store/tables/runs.ts';

/**
 * The line for a shell that opens the conversation of a run by hand, with what its turns could write to; null where the
 * backend has none, or no session was had: then only the workspace can be opened.
 */
export function resumeCommand(
  settings: Pick<Settings, 'agent' | 'backends'>,
  run: RunRecord,
  gitDir: string | null,
): string | null {
  const { workspace, threadId, backend } = run;
  if (backend !== 'codex' || workspace === null || threadId === null) return null;
  const account = settings.agent.accounts.find((each) => each.backend === backend && each.name === run.account);
  const codex = codexSettings(settings);
  const sandbox = sandboxModeOf(codex.turnSandboxPolicy, codex.threadSandbox);
  return codexResumeCommand({ workspace, threadId, home: account?.home ?? null, sandbox, gitDir });
}
