/** The template of a workflow file without a body (specification 12.4). */
export const defaultPrompt = `You are working on an issue from the configured tracker.

Identifier: {{ issue.identifier }}
Title: {{ issue.title }}

Body:
{% if issue.description %}{{ issue.description }}{% else %}No description provided.{% endif %}`;
