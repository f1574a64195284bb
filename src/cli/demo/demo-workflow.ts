/** The workflow file of the demo, as somebody would write it: a worktree and a branch for each ticket, work, hand over. */
export const demoWorkflow = `---
tracker:
  kind: board
  provider:
    prefix: WORDS
polling:
  interval_ms: 1000
workspace:
  root: workspaces
  repo: project
  strategy: worktree
  setup: |
    git config user.name "Rehearsal"
    git config user.email "rehearsal@example.invalid"
    git config commit.gpgsign false
    git config core.hooksPath /dev/null
agent:
  backend: rehearsal
  read_timeout_ms: 60000
  max_concurrent_agents: 3
  max_retry_backoff_ms: 2000
  ask_timeout_ms: 600000
  # Two accounts: while one has no quota the other goes on. Their threads are in one folder, so that either can go on
  # with what the other began.
  accounts:
    - name: main
      home: threads
    - name: spare
      home: threads
---
You are working on {{ issue.identifier }}: {{ issue.title }}

{{ issue.description }}
{% if retry_kind %}
An earlier run ended before the ticket did ({{ retry_kind }}); go on from what is there.
{% endif %}
`;
