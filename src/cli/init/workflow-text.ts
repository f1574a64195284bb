import { Document, isScalar, visit } from 'yaml';
import type { TrackerAdapter } from '../../tracker/adapter.ts';
import type { Chosen } from './ask-person.ts';
import { pipelineComment, pipelineSection } from './pipeline-section.ts';
import { leadsToReview, planReview } from './planned-review.ts';

/**
 * The workflow file for these answers. Values go through the YAML writer, so that none can break the file. `root` is
 * the folder of the workspaces for an agent whose sandbox may write to the folder for temporary files; null when that
 * does not matter.
 */
export function workflowText(chosen: Chosen, timeZone: string, root: string | null = null): string {
  const { tracker, agent, answers, label, repo, judge } = chosen;
  const review = planReview(chosen);
  const workspace = { ...(repo === null ? {} : { repo }), ...(root === null ? {} : { root }) };
  const settings = new Document({
    tracker: {
      kind: tracker.kind,
      ...tracker.init.settings(answers),
      ...(label === null ? {} : { required_labels: [label] }),
      ...(leadsToReview(chosen) && tracker.init.states !== undefined ? { states: tracker.init.states } : {}),
    },
    // Only polls of a remote tracker are worth saving. The time zone is written down, so that the hours stay the same
    // when Baton runs on another machine.
    polling: {
      mode: 'adaptive',
      ...(tracker.init.isShared ? { quiet_hours: '00:00-07:00', time_zone: timeZone } : {}),
    },
    agent: {
      backend: agent.name,
      ...agent.init.settings(answers),
      max_concurrent_agents: 2,
      ...(leadsToReview(chosen) ? { after_success: 'review' } : {}),
    },
    ...(review.problem === null && review.settings !== null ? { review: review.settings } : {}),
    ...(judge ? { judge: { agents: ['default'] } } : {}),
    ...agent.init.section?.(answers),
    ...(repo === null && root === null ? {} : { workspace }),
    ...(chosen.hasPipeline ? { pipeline: pipelineSection } : {}),
  });
  const all = { ...comments, ...tracker.init.comments, ...agent.init.comments };
  for (const [name, comment] of Object.entries(all)) explain(settings, name, comment);
  return `---\n${settings}---\n${prompt(chosen)}`;
}

const comments: Readonly<Record<string, string>> = {
  quiet_hours: 'In these hours Baton polls a remote tracker rarely. Running agents continue.',
  judge: 'An agent that reviews each change before people do. Each verdict costs a run.',
  pipeline: pipelineComment,
  root: 'Outside the folder for temporary files, because every agent may write there.',
};

/** Puts a comment above a key, if the key is there. */
function explain(settings: Document, name: string, comment: string): void {
  visit(settings, {
    Pair: (_, { key }) => {
      if (isScalar(key) && key.value === name) key.commentBefore = ` ${comment}`;
    },
  });
}

function prompt(chosen: Chosen): string {
  const { agent, tracker } = chosen;
  const { toolsNote } = agent.init;
  return `You are working on {{ issue.identifier }}: {{ issue.title }}

{{ issue.description | default: "No description provided." }}
{% if retry_kind %}
An earlier run did not finish this issue. Check what is already done in this directory, and continue from there.
{% endif %}
${leadsToReview(chosen) ? howToPropose : howToFinish(stateAfterWork(tracker))}${toolsNote === undefined ? '' : `${toolsNote}\n`}`;
}

const howToPropose = `Work only in this directory. When the work is done, commit all of it on the current branch and end your turn: Baton opens a
pull request and moves the issue to review. Only commits reach review. To give the pull request a title and a description of your
own, call the tool \`create_pr\` before you end your turn. To ask a person, use the tool \`ask_person\`.
`;

/** Every agent has to move its issue: Baton runs an issue that stays in an active state again. */
function howToFinish(state: string): string {
  return `Work only in this directory. When the work is done, commit it, and then move the issue to \`${state}\` with the tool
\`update_issue_status\`. Until you move it, Baton runs this issue again. To ask a person, use the tool \`ask_person\`.
`;
}

/** The state in which a person reviews the work; in a tracker without one, the last terminal state. */
function stateAfterWork({ defaultReviewStates, defaultTerminalStates }: TrackerAdapter): string {
  return defaultReviewStates?.[0] ?? defaultTerminalStates?.at(-1) ?? 'Done';
}
