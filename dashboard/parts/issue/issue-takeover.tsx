import type { VNode } from 'preact';
import type { IssueDetail } from '../../../src/client/schema/issue.ts';
import type { RunDetail } from '../../../src/client/schema/run.ts';
import { projectPath } from '../../data/connection/api.ts';
import { useResource } from '../../data/connection/resource.ts';
import { CopyButton } from '../shared/copy-button.tsx';
import { Text } from '../shared/text.tsx';

/** While a person has taken the issue over: where the work is and how to continue the conversation. */
export function TakenOver({ project, issue }: { readonly project: string; readonly issue: IssueDetail }): VNode | null {
  const runId = issue.held?.code === 'taken_over' ? (issue.held.run_id ?? issue.runs[0]?.run_id ?? null) : null;
  const { resource } = useResource<RunDetail>(runId === null ? null : projectPath(project, 'runs', runId));
  const run = resource.value.value;
  if (runId === null || run === null) return null;
  return (
    <div class="taken-over">
      {run.workspace_path !== null && <CopyLine name="path" text={run.workspace_path} />}
      {run.resume_command !== null && <CopyLine name="command" text={run.resume_command} />}
    </div>
  );
}

/** A path or a command, whole, with a button that copies it. */
export function CopyLine({ name, text }: { readonly name: string; readonly text: string }): VNode {
  return (
    <span class="copy-line">
      <code>
        <Text text={text} />
      </code>
      <CopyButton text={text} label={`Copy ${name}`} />
    </span>
  );
}
