// @module-tag full
import { describe, expect, it } from 'vitest';
import { telling } from '../telling.ts';
import { batonHere as baton, daemonHere } from './baton-here.ts';
import { answer, runsOf, soon } from './live-daemon.ts';
import { callsTools, ownAgentScene } from './own-agent.ts';
import { leaveNoPlaces, type Place } from './run-baton.ts';

leaveNoPlaces();

/** As a scanner it proposes too many issues first, and then two. */
const agent = `import { writeFileSync } from 'node:fs';
${callsTools}
if (process.env.BATON_ROLE !== 'scanner') process.exit(7);
const propose = (titles) =>
  call('propose_issues', { issues: titles.map((title) => ({ title, acceptance_criteria: [title + ' works'] })) });
writeFileSync(process.argv[2] + '/many.txt', await propose(Array.from({ length: 100 }, (_, at) => 'Idea ' + at)));
await propose(['Test the parser', 'Document the flags']);
`;

function scanScene(scanner: string): Place {
  const lines = ['board: {auto_promote: true}', `scanner: ${scanner}`];
  return ownAgentScene({ name: 'scan', agent, jobs: 'scanner: {interval_ms: 1000}', lines }).place;
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
