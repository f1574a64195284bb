import { laterTurns } from './demo-issues.ts';

/**
 * The workflow file of the demo, as a user would write it: a worktree and a branch for each issue, work, hand over. An
 * issue that a person files has no script; it gets a small one, so that it runs through as the others do.
 */
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
  base: main
  strategy: worktree
  setup: |
    git config user.name "Rehearsal"
    git config user.email "rehearsal@example.invalid"
    git config commit.gpgsign false
    git config core.hooksPath /dev/null
agent:
  backend: rehearsal
  # What an agent commits becomes a change under review. A person merges it or sends it back.
  after_success: review
  read_timeout_ms: 60000
  max_concurrent_agents: 3
  max_retry_backoff_ms: 2000
  ask_timeout_ms: 600000
  # Two accounts: while one has no quota, the other continues. Both keep their threads in one folder, so that each can
  # resume a thread of the other.
  accounts:
    - name: main
      home: threads
    - name: spare
      home: threads
# Issues with the label phase:research are prepared in phases first. All others are ready for their worker.
pipeline:
  entry: ready
  phases:
    - name: research
      required_sections: [Findings]
    - name: architecture
      required_sections: [Design]
      validation: judge
    - name: grooming
      required_sections: [Acceptance criteria]
review:
  # Runs on exactly the commit that is in review. A red check sends the change back to its agent.
  checks:
    - name: tests
      run: node run-tests.js
---
You are working on {{ issue.identifier }}: {{ issue.title }}

{{ issue.description }}
{% unless issue.description contains '\`\`\`rehearsal' %}
\`\`\`rehearsal
say Reading the issue and the code
wait 4000
write notes/{{ issue.identifier | downcase }}.md
| # {{ issue.title | strip_newlines }}
|
| The scripted agent of the demo cannot do what this issue asks. A real agent would.
spend 1200
wait 4000
run node run-tests.js
commit {{ issue.identifier }}: {{ issue.title | strip_newlines }}
spend 2300
propose {{ issue.title | strip_newlines }}
say I only wrote a note, because I am a script and this issue has no steps for me.
${laterTurns('{{ issue.identifier }}').join('\n')}
\`\`\`
{% endunless %}
{% if retry_kind %}
An earlier run did not finish this issue ({{ retry_kind }}). Continue from the work that is already there.
{% endif %}
`;
