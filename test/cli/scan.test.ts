// @module-tag full
import { describe, expect, it } from 'vitest';
import { telling } from '../telling.ts';
import { git, scratchRepository } from '../workspace/git/scratch-repository.ts';
import { batonHere as baton, daemonHere } from './baton-here.ts';
import { answer, runsOf, soon } from './live-daemon.ts';
import { leaveNoPlaces, Place } from './run-baton.ts';

leaveNoPlaces();

/** As a scanner it proposes too many issues first, and then two. */
const agent = `import { writeFileSync } from 'node:fs';
const { BATON_TOOLS_URL: url, BATON_TOOLS_TOKEN: token } = process.env;
const headers = { authorization: 'Bearer ' + token, 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const post = (body, more = {}) =>
  fetch(url, { method: 'POST', headers: { ...headers, ...more }, body: JSON.stringify({ jsonrpc: '2.0', ...body }) });
if (process.env.BATON_ROLE !== 'scanner') process.exit(7);
const protocolVersion = '2025-06-18';
const params = { protocolVersion, capabilities: {}, clientInfo: { name: 'agent', version: '1' } };
const opened = await post({ id: 1, method: 'initialize', params });
await opened.text();
const session = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '', 'mcp-protocol-version': protocolVersion };
const propose = async (id, titles) => {
  const issues = titles.map((title) => ({ title, acceptance_criteria: [title + ' works'] }));
  return (await post({ id, method: 'tools/call', params: { name: 'propose_issues', arguments: { issues } } }, session)).text();
};
writeFileSync(process.argv[2] + '/many.txt', await propose(2, Array.from({ length: 100 }, (_, at) => 'Idea ' + at)));
await propose(3, ['Test the parser', 'Document the flags']);
`;

function scanScene(scanner: string): Place {
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
      'project: {name: scan}',
      'tracker: {kind: board}',
      'board: {auto_promote: true}',
      'polling: {interval_ms: 300, jobs: {scanner: {interval_ms: 1000}}}',
      'workspace: {root: workspaces, repo: project, base: main}',
      `agent: {backend: command, command: "${command}", isolation: none}`,
      `scanner: ${scanner}`,
      '---',
      '{{ issue.title }}',
    ].join('\n'),
  );
  return place;
}

describe('baton scan', { timeout: 240_000 }, () => {
  // @conforms 4.111, 4.136
  it('shows what an agent proposed when nothing was to be done, and files it after a yes, in the backlog', async () => {
    const place = scanScene('{enabled: true, cooldown_ms: 1}');
    const daemon = await daemonHere(place);
    const events = daemon
      .stderr()
      .split('\n')
      .filter((line) => line.includes('"scanner_on"'));
    expect(events.map((line) => JSON.parse(line))).toMatchObject([{ runs_per_day: 1 }]);
    const latest = async () => (await answer(place, 'scan', 'list')).tasks;
    await soon(async () => expect(await latest()).toMatchObject([{ kind: 'scan', status: 'proposed', open: 2 }]));
    const [{ id }] = await latest();
    expect(place.read('many.txt')).toContain('at most 5 are allowed');
    expect((await baton(place, 'scan', 'show', id)).stdout).toMatch(/^1\. Test the parser$/m);
    const { command } = await answer(place, 'scan', 'accept', id, '1');
    expect(command.data).toMatchObject({ filed: ['BAT-1'] });
    await answer(place, 'scan', 'refuse', id);
    expect((await answer(place, 'scan', 'show', id)).task).toMatchObject({ status: 'accepted', open: 0 });

    // The pause is over at once, and auto_promote is on: only the budget and the label keep Baton from going on.
    const now = await baton(place, 'scan', 'now', '--json');
    expect([now.code === 0, JSON.parse(now.stdout).error]).toMatchObject([
      false,
      { details: { code: 'role_budget_used' } },
    ]);
    expect((await answer(place, 'issue', 'show', 'BAT-1')).issue).toMatchObject({
      status: 'backlog',
      labels: ['proposed'],
    });
    expect((await runsOf(place)).map(({ role, outcome }) => [role, outcome])).toEqual([['scanner', 'succeeded']]);
    await daemon.stop();
    expect(place.pids()).toEqual([]);
  });

  it('begins when a person asks, says first what is used of the budget, and is off without the setting', async () => {
    const place = scanScene('{enabled: true, max_backlog: 0, usd_per_day: 2}');
    const daemon = await daemonHere(place);
    const now = await baton(place, 'scan', 'now', '--wait');
    expect([now.code, now.stdout]).toMatchObject([0, expect.stringContaining('2. Document the flags')]);
    expect(now.stderr).toEqual(telling(0, 1, 'scanner.runs_per_day', '$0.00', '$2.00', 'scanner.usd_per_day'));
    await daemon.stop();
    const off = scanScene('{}');
    const idle = await daemonHere(off);
    const refused = await baton(off, 'scan', 'now', '--json');
    expect(JSON.parse(refused.stdout).error).toMatchObject({ details: { code: 'role_off' } });
    expect([await runsOf(off), (await answer(off, 'scan', 'list')).tasks]).toEqual([[], []]);
    await idle.stop();
  });
});
