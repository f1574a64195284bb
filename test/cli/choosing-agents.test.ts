// @module-tag full
import { describe, expect, it } from 'vitest';
import { daemonHere } from './baton-here.ts';
import { answer, refusal, runsOf, soon } from './live-daemon.ts';
import { leaveNoPlaces, Place } from './run-baton.ts';

leaveNoPlaces();

const front = [
  '---',
  'project: {name: agents}',
  'tracker: {kind: board}',
  'polling: {interval_ms: 300}',
  'workspace: {root: workspaces}',
  'agent: {backend: command, command: "echo by default >> by.txt; exit 3", max_retries: 1, stand_in: second}',
  'agents:',
  '  second: {command: "echo by second >> by.txt; exit 4"}',
  '  played: {backend: rehearsal}',
  '---',
  '```rehearsal',
  'append by.txt',
  '| by played',
  'move review',
  '```',
].join('\n');

// biome-ignore lint/suspicious/noExplicitAny: each test checks the part it is about.
async function agentsOf(place: Place, issue: string): Promise<any[]> {
  const runs = await runsOf(place);
  return runs
    .filter((run) => run.issue_identifier === issue)
    .map(({ agent, agent_reason, backend }) => [agent, agent_reason, backend]);
}

describe('a workflow file with several agents', { timeout: 120_000 }, () => {
  it('gives an issue to the agent of its label, and to the one that a person chooses at a retry', async () => {
    const place = new Place({});
    place.write('WORKFLOW.md', front);
    await answer(place, 'issue', 'add', 'By its label', '--label', 'agent:played');
    await answer(place, 'issue', 'add', 'By default');
    await answer(place, 'issue', 'add', 'By no one', '--label', 'agent:gone');
    const daemon = await daemonHere(place);
    await soon(async () => expect((await answer(place, 'issue', 'show', 'BAT-1')).issue.status).toBe('review'));
    expect(await agentsOf(place, 'BAT-1')).toEqual([['played', 'label', 'rehearsal']]);
    await soon(async () => {
      const { status } = await answer(place, 'status');
      expect(status.held).toMatchObject([{ issue_identifier: 'BAT-2' }]);
      expect(status.skipped).toMatchObject([{ issue_identifier: 'BAT-3', code: 'unknown_agent' }]);
    });
    expect(await agentsOf(place, 'BAT-2')).toEqual([['default', 'default', 'command']]);

    expect(await refusal(place, 'issue', 'retry', 'BAT-2', '--agent', 'gone')).toMatchObject({
      code: 'command_refused',
      details: { code: 'unknown_agent', data: { agents: ['default', 'second', 'played'] } },
    });
    const { command } = await answer(place, 'issue', 'retry', 'BAT-2', '--agent', 'played');
    expect(command).toMatchObject({ code: 'retry_now' });
    await soon(async () => expect((await answer(place, 'issue', 'show', 'BAT-2')).issue.status).toBe('review'));
    expect((await agentsOf(place, 'BAT-2')).at(-1)).toEqual(['played', 'person', 'rehearsal']);
    expect(await agentsOf(place, 'BAT-3')).toEqual([]);
    await daemon.stop();
  });
});
