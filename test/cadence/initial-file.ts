import { rehearsalBackend } from '../../src/agent/rehearsal/rehearsal-backend.ts';
import { workflowText } from '../../src/cli/init/workflow-text.ts';
import { linearAdapter } from '../../src/tracker/linear/linear-adapter.ts';

/** The workflow file that `baton init` writes for a project of Linear, for a person in this time zone. */
export function initialFile(timeZone = 'UTC'): string {
  const answers = { project_slug: 'baton' };
  const chosen = {
    tracker: linearAdapter,
    agent: rehearsalBackend,
    answers,
    label: null,
    repo: null,
    judge: false,
    wantsSetup: false,
    hasPipeline: false,
  };
  return workflowText(chosen, timeZone);
}
