// @module-tag full
import { expect, it } from 'vitest';
import { telling } from '../telling.ts';
import { git, scratchRepository } from '../workspace/git/scratch-repository.ts';
import { daemonHere } from './baton-here.ts';
import { answer, runsOf, soon } from './live-daemon.ts';
import { leaveNoPlaces, Place } from './run-baton.ts';

leaveNoPlaces();

/** The scripted planner splits its issue in three; a worker commits a file, and finds nothing to do in the parent. */
const workflow = `---
project: {name: planned}
tracker: {kind: board}
polling: {interval_ms: 300, jobs: {pull_requests: {interval_ms: 1000}}}
workspace: {root: workspaces, repo: project, base: main}
agent: {backend: rehearsal, after_success: review, isolation: none}
planner:
  enabled: true
  runs_per_day: 3
  prompt: |
    Split {{ issue.identifier }}.

    \`\`\`rehearsal planner
    say Reading
    plan In three
    | Lay the ground
    | Build on it < 1
    | Paint it < 1 2
    \`\`\`
---
{{ issue.title }}

\`\`\`rehearsal
{% if issue.title == 'Big' %}say Nothing is left to do{% else %}write {{ issue.identifier }}.txt
| {{ issue.identifier }}
commit Work on {{ issue.identifier }}{% endif %}
\`\`\`
`;

// biome-ignore lint/suspicious/noExplicitAny: each line checks the part it is about.
type Answer = any;

// @conforms planner.4
it('splits an issue in three, works on the parts in order, and brings it to review with their changes', {
  timeout: 240_000,
}, async () => {
  const place = new Place({});
  const source = scratchRepository(`${place.folder}/project`);
  // The base is checked out nowhere, so Baton itself may move it.
  git(source, 'checkout', '--quiet', '--detach');
  place.write('home/.gitconfig', '[user]\n\tname = A Person\n\temail = person@example.invalid\n');
  place.write('WORKFLOW.md', workflow);
  await answer(place, 'issue', 'add', 'Big', '--label', 'needs-planning');
  const daemon = await daemonHere(place);
  const issueOf = async (name: string): Promise<Answer> => (await answer(place, 'issue', 'show', name)).issue;
  const untilStatus = (name: string, status: string): Promise<void> =>
    soon(async () => expect((await issueOf(name)).status).toBe(status));

  for (const name of ['BAT-2', 'BAT-3', 'BAT-4']) {
    await untilStatus(name, 'review');
    // It waits for its parts, and only the part in review has had its worker.
    expect((await issueOf('BAT-1')).status).toBe('blocked');
    const { pull } = await answer(place, 'pr', 'show', name);
    expect((await answer(place, 'pr', 'merge', `${pull.number}`)).command).toMatchObject({ code: 'change_merged' });
    await untilStatus(name, 'done');
  }
  await untilStatus('BAT-1', 'review');
  const runs = (await runsOf(place)).map(({ role, issue_identifier: name }) => `${role} ${name}`);
  expect(runs).toEqual(['planner BAT-1', 'worker BAT-2', 'worker BAT-3', 'worker BAT-4', 'worker BAT-1']);
  for (const name of ['BAT-2', 'BAT-3', 'BAT-4']) expect(git(source, 'show', `main:${name}.txt`)).toBe(name);
  const { comments } = await answer(place, 'issue', 'show', 'BAT-1');
  expect(comments).toHaveLength(1);
  for (const name of ['BAT-2', 'BAT-3', 'BAT-4']) expect(comments[0].body).toContain(name);
  const explained = await answer(place, 'explain', 'BAT-1');
  expect(explained.gates).toContainEqual({
    gate: 'plan',
    ok: true,
    code: null,
    text: telling('BAT-2', 'BAT-3', 'BAT-4'),
  });
  await daemon.stop();
});
