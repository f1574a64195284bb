import { codexResumeCommand } from '../agent/codex/resume-command.ts';
import type { Settings } from '../core/settings.ts';
import type { RunRecord } from '../store/runs.ts';

/**
 * The line for a shell that opens the conversation of a run by hand; null where the backend has none, or the run never
 * came so far: then only its workspace can be opened.
 */
export function resumeCommand(settings: Pick<Settings, 'agent'>, run: RunRecord): string | null {
  const { workspace, threadId, backend } = run;
  if (backend !== 'codex' || workspace === null || threadId === null) return null;
  const account = settings.agent.accounts.find((each) => each.backend === backend && each.name === run.account);
  return codexResumeCommand({ workspace, threadId, home: account?.home ?? null });
}
