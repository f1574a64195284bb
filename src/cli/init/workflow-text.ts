import { Document, isScalar, visit } from 'yaml';
import { trackerProfiles } from '../../daemon/trackers.ts';
import type { InitAnswers } from './ask-person.ts';

/**
 * The workflow file for these answers. Values go through the YAML writer, so that none can break the file. `root` is where
 * the workspaces of an agent are whose sandbox is open to the folder for temporary files; null where that is no matter.
 */
export function workflowText(answers: InitAnswers, timeZone: string, root: string | null = null): string {
  const { tracker, agent, command, projectSlug, label, repo } = answers;
  const isLinear = tracker === 'linear';
  const provider = { api_key: '$LINEAR_API_KEY', project_slug: projectSlug ?? '' };
  const workspace = { ...(repo === null ? {} : { repo }), ...(root === null ? {} : { root }) };
  const settings = new Document({
    tracker: {
      kind: tracker,
      ...(isLinear ? { provider, trusted_authors: [] } : {}),
      ...(label === null ? {} : { required_labels: [label] }),
    },
    // The nights of whoever runs it: a file that is given on to another machine keeps them.
    polling: { mode: 'adaptive', quiet_hours: '00:00-07:00', time_zone: timeZone },
    agent: { backend: agent, ...(command === null ? {} : { command }), max_concurrent_agents: 2 },
    ...(repo === null && root === null ? {} : { workspace }),
  });
  for (const [name, comment] of Object.entries(comments)) explain(settings, name, comment);
  if (agent === 'codex') explain(settings, 'backend', codexComment);
  return `---\n${settings}---\n${prompt(agent, tracker)}`;
}

const comments: Readonly<Record<string, string>> = {
  trusted_authors: 'Ids or e-mails of the people whose tickets go into the prompt without a fence.',
  quiet_hours: 'When nobody files tickets a tracker elsewhere is asked rarely; what runs goes on.',
  root: 'Not in the folder for temporary files: there every agent may write.',
};

const codexComment =
  'It asks for no permission, what its sandbox forbids fails; codex.approval_policy: on-request makes it ask.';

/** Puts a comment above a key, where that key is. */
function explain(settings: Document, name: string, comment: string): void {
  visit(settings, {
    Pair: (_, { key }) => {
      if (isScalar(key) && key.value === name) key.commentBefore = ` ${comment}`;
    },
  });
}

function prompt(agent: string, tracker: string): string {
  return `You are working on {{ issue.identifier }}: {{ issue.title }}

{{ issue.description | default: "No description provided." }}
{% if retry_kind %}
An earlier run ended before the ticket did. Look first at what is already there, and go on from it.
{% endif %}
${agent === 'codex' ? withTools(stateAfterWork(tracker)) : plainEnd}`;
}

const plainEnd = 'Work only in this directory. When you are done, leave the work committed.\n';

/** For an agent that has the tools of Baton. A ticket that stays in an active state is worked on again and again. */
function withTools(state: string): string {
  return `Work only in this directory. When you are done, commit the work, and then move the ticket to \`${state}\` with the tool
\`update_issue_status\`. If you cannot go on without knowing something, ask with the tool \`ask_person\`.
`;
}

/** Where a person looks at it; in a tracker without such a state, where it is over. */
function stateAfterWork(tracker: string): string {
  const profile = trackerProfiles.find(({ kind }) => kind === tracker);
  return profile?.defaultReviewStates?.[0] ?? profile?.defaultTerminalStates?.at(-1) ?? 'Done';
}
