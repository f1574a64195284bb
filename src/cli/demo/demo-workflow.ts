/** The workflow file of the demo, as somebody would write it: clone, branch, work, hand over. */
export const demoWorkflow = `---
tracker:
  kind: board
  provider:
    prefix: WORDS
polling:
  interval_ms: 1000
workspace:
  root: workspaces
hooks:
  after_create: |
    git clone --quiet ../../project .
    git config user.name "Rehearsal"
    git config user.email "rehearsal@example.invalid"
    git config commit.gpgsign false
    git config core.hooksPath /dev/null
  before_run: |
    branch="baton/$(printf %s "$BATON_ISSUE_IDENTIFIER" | tr '[:upper:]' '[:lower:]')"
    rm -f .git/index.lock   # a run that was killed in the middle of a commit leaves it
    git fetch --quiet origin
    git switch --quiet "$branch" 2>/dev/null || git switch --quiet --create "$branch"
agent:
  backend: rehearsal
  read_timeout_ms: 60000
  max_concurrent_agents: 3
  max_retry_backoff_ms: 2000
---
You are working on {{ issue.identifier }}: {{ issue.title }}

{{ issue.description }}
{% if attempt %}
This is attempt {{ attempt }} after a {{ retry_kind }}; go on from what is there.
{% endif %}
`;
