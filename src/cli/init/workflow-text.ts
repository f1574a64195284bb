import { stringify } from 'yaml';
import type { InitAnswers } from './ask-person.ts';

/** The workflow file for these answers. Values go through the YAML writer, so that none can break the file. */
export function workflowText(answers: InitAnswers, timeZone: string): string {
  const { tracker, agent, command, projectSlug, label, repo } = answers;
  const provider = tracker === 'linear' ? { api_key: '$LINEAR_API_KEY', project_slug: projectSlug ?? '' } : null;
  const settings = {
    tracker: {
      kind: tracker,
      ...(provider === null ? {} : { provider }),
      ...(label === null ? {} : { required_labels: [label] }),
    },
    // The nights of whoever runs it: a file that is given on to another machine keeps them.
    polling: { mode: 'adaptive', quiet_hours: '00:00-07:00', time_zone: timeZone },
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
