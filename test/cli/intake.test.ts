// @module-tag full
import { describe, expect, it } from 'vitest';
import { telling } from '../telling.ts';
import { git, scratchRepository } from '../workspace/git/scratch-repository.ts';
import { batonHere as baton, daemonHere } from './baton-here.ts';
import { answer, runsOf, soon } from './live-daemon.ts';
import { leaveNoPlaces, Place } from './run-baton.ts';

leaveNoPlaces();

/**
 * One program for both roles. As the agent of an intake it proposes an issue for each line of the text; as a worker it commits
 * a file.
 */
const agent = `import { execFileSync } from 'node:child_process';
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
const prompt = readFileSync(0, 'utf8');
appendFileSync(process.argv[2] + '/prompts.txt', JSON.stringify({ role: process.env.BATON_ROLE ?? 'worker', prompt }) + '\\n');
const { BATON_TOOLS_URL: url, BATON_TOOLS_TOKEN: token } = process.env;
const headers = { authorization: 'Bearer ' + token, 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const post = (body, more = {}) =>
  fetch(url, { method: 'POST', headers: { ...headers, ...more }, body: JSON.stringify({ jsonrpc: '2.0', ...body }) });
if (process.env.BATON_ROLE === 'intake') {
  if (prompt.includes('CRASH')) process.exit(7);
  const protocolVersion = '2025-06-18';
  const params = { protocolVersion, capabilities: {}, clientInfo: { name: 'agent', version: '1' } };
  const opened = await post({ id: 1, method: 'initialize', params });
  await opened.text();
  const session = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '', 'mcp-protocol-version': protocolVersion };
  const listed = await (await post({ id: 2, method: 'tools/list', params: {} }, session)).text();
  writeFileSync(process.argv[2] + '/tools.txt', [...listed.matchAll(/"name":"(\\w+)","description/g)].map((each) => each[1]).join(' '));
  const issues = [...prompt.matchAll(/^wish: (.*)$/gm)].map(([, title]) => ({
    title,
    description: 'Somebody wants this.',
    acceptance_criteria: [title + ' works'],
    duplicate_of: title === 'Dark mode' ? 'BAT-1' : null,
  }));
  await (await post({ id: 3, method: 'tools/call', params: { name: 'propose_issues', arguments: { issues } } }, session)).text();
} else {
  writeFileSync('work-' + process.env.BATON_ISSUE_IDENTIFIER + '.txt', prompt);
  execFileSync('git', ['add', '.']);
  execFileSync('git', ['commit', '--quiet', '--message', 'Work']);
}
`;

function intakeScene(): { readonly place: Place; readonly source: string } {
  const place = new Place({});
  const source = scratchRepository(`${place.folder}/project`);
  git(source, 'checkout', '--quiet', '--detach');
  place.write('agent.mjs', agent);
  place.write('home/.gitconfig', '[user]\n\tname = A Person\n\temail = person@example.invalid\n');
  const command = `exec '${process.execPath}' '${place.folder}/agent.mjs' '${place.folder}'`;
  place.write(
    'WORKFLOW.md',
    [
      '---',
      'project: {name: intake}',
      'tracker: {kind: board}',
      'polling: {interval_ms: 300, jobs: {pull_requests: {interval_ms: 1000}}}',
      'workspace: {root: workspaces, repo: project, base: main}',
      `agent: {backend: command, command: "${command}", isolation: none, after_success: review}`,
      'intake: {runs_per_day: 3}',
      '---',
      '{{ issue.title }}',
    ].join('\n'),
  );
  return { place, source };
}

const wishes = ['Export as CSV', 'Dark mode', 'Faster search', 'A help page', 'Undo', 'Shortcuts'];
const notes = `Notes of the meeting\n\n${wishes.map((wish) => `wish: ${wish}`).join('\n')}\n`;

describe('baton intake', { timeout: 240_000 }, () => {
  // @conforms 4.137, budget.2
  it('turns a text into issues after a person said yes, shows a duplicate, and the issues are worked on', async () => {
    const { place } = intakeScene();
    await answer(place, 'issue', 'add', 'Add a dark mode', '--status', 'backlog');
    place.write('notes.md', notes);
    const daemon = await daemonHere(place);
    const { task } = await answer(place, 'intake', 'notes.md', '--wait');
    expect(task).toMatchObject({ status: 'proposed', open: 6, title: 'Intake: Notes of the meeting' });
    expect(task.issues.map(({ title }: { title: string }) => title)).toEqual(wishes);
    expect(task.issues[1]).toMatchObject({ duplicate_of: { identifier: 'BAT-1' } });
    expect(place.read('tools.txt').split(' ').toSorted()).toEqual([
      'propose_issues',
      'report_progress',
      'report_usage',
    ]);
    // Nothing was filed yet, and the checkout of the agent is gone.
    expect((await answer(place, 'issue', 'list')).issues).toHaveLength(1);
    expect((await runsOf(place)).map(({ role, outcome }) => [role, outcome])).toEqual([['intake', 'succeeded']]);

    // One with changes, then the rest; the duplicate is left.
    const [first] = task.issues;
    place.write('edited.json', JSON.stringify({ task: { issues: [{ ...first, title: 'Export as CSV and TSV' }] } }));
    const accepted = await answer(place, 'intake', 'accept', task.id, '--edited', 'edited.json');
    expect(accepted.command.data).toMatchObject({ filed: ['BAT-2'] });
    const rest = await answer(place, 'intake', 'accept', task.id);
    expect(rest.command.data).toMatchObject({ filed: ['BAT-3', 'BAT-4', 'BAT-5', 'BAT-6'] });
    expect((await answer(place, 'intake', 'show', task.id)).task).toMatchObject({ status: 'proposed', open: 1 });
    const shown = await baton(place, 'intake', 'show', task.id);
    expect(shown.stdout).toMatch(/^2\. Dark mode$/m);
    await answer(place, 'intake', 'refuse', task.id, '2');
    expect((await answer(place, 'intake', 'show', task.id)).task).toMatchObject({ status: 'accepted', open: 0 });
    const { issue } = await answer(place, 'issue', 'show', 'BAT-2');
    expect(issue).toMatchObject({ title: 'Export as CSV and TSV' });
    expect(issue.description).toContain('- Export as CSV works');

    for (const name of ['BAT-2', 'BAT-3', 'BAT-4', 'BAT-5', 'BAT-6'])
      await soon(async () =>
        expect((await answer(place, 'issue', 'show', name)).issue).toMatchObject({ status: 'review' }),
      );
    expect((await runsOf(place)).filter(({ role }) => role === 'worker')).toHaveLength(5);
    // The next one says before it begins what the day has cost.
    const next = await baton(place, 'intake', 'notes.md');
    expect(next.stderr).toEqual(telling(1, 3, 'intake.runs_per_day', 'limits.usd_per_day'));
    await daemon.stop();
    expect(place.pids()).toEqual([]);
  });

  it('fails when its agent does, keeps the text, and is tried again with one command', async () => {
    const { place } = intakeScene();
    place.write('notes.md', 'Notes\nwish: CRASH\n');
    const daemon = await daemonHere(place);
    const failed = await baton(place, 'intake', 'notes.md', '--wait', '--json');
    const { task } = JSON.parse(failed.stdout);
    expect([failed.code, task]).toMatchObject([1, { status: 'failed', text: 'Notes\nwish: CRASH' }]);
    place.replace('agent.mjs', agent.replace("prompt.includes('CRASH')", 'false'));
    expect((await answer(place, 'intake', 'retry', task.id)).command).toMatchObject({ code: 'task_waits' });
    await soon(async () =>
      expect((await answer(place, 'intake', 'show', task.id)).task).toMatchObject({ status: 'proposed', open: 1 }),
    );
    const { tasks } = await answer(place, 'intake', 'list');
    expect(tasks).toMatchObject([{ id: task.id, status: 'proposed' }]);
    await daemon.stop();
  });

  it('refuses a file that it cannot use, with a code', async () => {
    const { place } = intakeScene();
    const missing = await baton(place, 'intake', 'nothing.md', '--json');
    expect([missing.code, JSON.parse(missing.stdout).error]).toMatchObject([1, { code: 'usage_error' }]);
    place.write('empty.md', '\n');
    const daemon = await daemonHere(place);
    const empty = await baton(place, 'intake', 'empty.md', '--json');
    expect(empty.code).not.toBe(0);
    const unknown = await baton(place, 'intake', 'show', 'intake:nothing', '--json');
    expect(JSON.parse(unknown.stdout).error).toMatchObject({ code: 'task_not_found' });
    await daemon.stop();
  });
});
