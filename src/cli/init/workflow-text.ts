import { stringify } from 'yaml';
import type { InitAnswers } from './ask-person.ts';

/** The workflow file for these answers. Values go through the YAML writer, so that none can break the file. */
export function workflowText(answers: InitAnswers): string {
  const { tracker, agent, command, projectSlug, label, repo } = answers;
  const provider = tracker === 'linear' ? { api_key: '$LINEAR_API_KEY', project_slug: projectSlug ?? '' } : null;
  const settings = {
    tracker: {
      kind: tracker,
      ...(provider === null ? {} : { provider }),
      ...(label === null ? {} : { required_labels: [label] }),
    },
    agent: { backend: agent, ...(command === null ? {} : { command }), max_concurrent_agents: 2 },
    ...(repo === null ? {} : { workspace: { repo } }),
  };
  return `---\n${stringify(settings)}---\n${prompt}`;
}

const prompt = `You are working on {{ issue.identifier }}: {{ issue.title }}

{{ issue.description | default: "No description provided." }}
{% if retry_kind %}
An earlier run ended before the ticket did. Look first at what is already there, and go on from it.
{% endif %}
Work only in this directory. When you are done, leave the work committed.
`;
