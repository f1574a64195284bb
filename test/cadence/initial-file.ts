import { workflowText } from '../../src/cli/init/workflow-text.ts';

/** The workflow file that `baton init` writes for a project of Linear, for whoever lives in this time zone. */
export function initialFile(timeZone = 'UTC'): string {
  const answers = {
    tracker: 'linear',
    agent: 'rehearsal',
    command: null,
    projectSlug: 'baton',
    label: null,
    repo: null,
  };
  return workflowText(answers, timeZone);
}
