// @module-tag one-way
import { describe, expect, it } from 'vitest';
import { commandKinds } from '../../src/core/command/command.ts';
import type { Caller } from '../../src/server/api/caller.ts';
import { issue } from '../fake/issues.ts';
import { begun } from '../orchestrator/scene.ts';
import { apiOf, projectOf } from '../server/api/api-scene.ts';

const agentOf = (runId: string): Caller => ({ scopes: new Set(['read', 'operate']), author: { kind: 'run', runId } });

/** Two projects with a run each, and the API as the agent of the first run sees it. */
async function scene(...runIds: string[]) {
  const [own, other] = [await begun({ issues: [issue({ id: '1' }), issue({ id: '2' })] }), await begun({ issues: [] })];
  const runId = runIds[0] ?? own.runs[0]?.request.runId ?? expect.fail('it has begun');
  const { ask, url } = await apiOf([projectOf(own, 'own'), projectOf(other, 'other')], agentOf(runId));
  const command = (project: string, body: object) => ask('POST', `/api/v1/projects/${project}/commands`, body);
  return { own, other, ask, url, command };
}

const refusedByRule = { status: 409, json: { error: { details: { code: 'not_for_agents' } } } };
const outOfReach = { status: 403, json: { error: { code: 'not_for_agents' } } };

describe('an agent', () => {
  it.each([
    { kind: 'drain' },
    { kind: 'pause' },
    { kind: 'resume' },
    { kind: 'issue_hold', issue: '2' },
    { kind: 'issue_stop', issue: '2' },
  ])('halts nobody else: %j is refused', async (body) => {
    const { own, command } = await scene();
    expect(await command('own', body)).toMatchObject(refusedByRule);
    expect(own.orchestrator.read()).toMatchObject({ paused: null, held: [] });
    expect(own.orchestrator.read().running.map(({ issue: { id } }) => id)).toEqual(['1', '2']);
  });

  it.each([
    { kind: 'pr_approve', pull: 1, head: 'a'.repeat(40) },
    { kind: 'pr_merge', pull: 1, head: 'a'.repeat(40) },
    { kind: 'pr_send_back', pull: 1, head: 'a'.repeat(40), note: 'again' },
    { kind: 'pr_close', pull: 1 },
    { kind: 'pr_check', pull: 1, head: 'x' },
  ])('decides about no change, not even its own: %j is refused', async (body) => {
    const { command } = await scene();
    expect(await command('own', body)).toMatchObject(refusedByRule);
  });

  it.each(commandKinds.filter((kind) => !['issue_hold', 'issue_stop', 'issue_move'].includes(kind)))(
    'gives no command of a person, not even about its own issue: %s',
    async (kind) => {
      const { own } = await scene();
      const author = { kind: 'run', runId: own.runs[0]?.request.runId ?? '' } as const;
      const payload = { issue: '1', pull: 1, question: 'q', issues: ['1'], text: 'x' };
      const draft = { id: `${kind}-by-run`, project: own.project, kind, payload, key: null, at: own.clock.now() };
      await own.store.commands.submit({ ...draft, author });
      own.orchestrator.wake();
      await own.clock.advance(0);
      expect(await own.store.commands.read(draft.id)).toMatchObject({ result: { code: 'not_for_agents' } });
    },
  );

  it('halts no other project, and not all of them at once', async () => {
    const { other, ask, command } = await scene();
    for (const body of [{ kind: 'drain' }, { kind: 'issue_stop', issue: '1' }])
      expect(await command('other', body)).toMatchObject(outOfReach);
    expect(await ask('POST', '/api/v1/commands', { kind: 'drain' })).toMatchObject(outOfReach);
    expect(await ask('POST', '/api/v1/refresh')).toMatchObject(outOfReach);
    expect(await ask('POST', '/api/v1/projects/own/store-changes', { change: 'restored' })).toMatchObject(outOfReach);
    expect(other.orchestrator.read()).toMatchObject({ paused: null, held: [] });
  });

  it('may stop its own run', async () => {
    const { own, command } = await scene();
    expect(await command('own', { kind: 'issue_stop', issue: '1' })).toMatchObject({
      status: 200,
      json: { command: { code: 'stopping' } },
    });
    expect(own.orchestrator.read().running.map(({ issue: { id } }) => id)).toContain('2');
  });

  it('reads its own project and no other', async () => {
    const { ask } = await scene();
    expect((await ask('GET', '/api/v1/projects')).json.projects).toMatchObject([{ name: 'own' }]);
    expect((await ask('GET', '/api/v1/projects/own/status')).status).toBe(200);
    for (const path of ['/api/v1/projects/other', '/api/v1/projects/other/runs', '/api/v1/state', '/api/v1/T-1'])
      expect(await ask('GET', path), path).toMatchObject(outOfReach);
    for (const path of ['/api/v1/events', '/metrics']) expect((await ask('GET', path)).status, path).toBe(403);
  });

  // A folder that it moves away while Baton reads could show it files that its isolation hides.
  it('gets no files of workspaces, which it may change while Baton reads them', async () => {
    const { own, ask } = await scene();
    const runId = own.runs[0]?.request.runId;
    for (const path of ['issues/1/diff', `runs/${runId}/diff`, 'issues/2/diff'])
      expect(await ask('GET', `/api/v1/projects/own/${path}`), path).toMatchObject(outOfReach);
  });

  it('of another Baton reads nothing', async () => {
    const { ask } = await scene('unknown');
    expect(await ask('GET', '/api/v1/projects')).toMatchObject(outOfReach);
    expect(await ask('GET', '/api/v1/projects/own/status')).toMatchObject(outOfReach);
  });
});
