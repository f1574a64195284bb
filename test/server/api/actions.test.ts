import { describe, expect, it } from 'vitest';
import { commandAnswer, commandsOfAll } from '../../../src/client/schema/command.ts';
import type { Caller } from '../../../src/server/api/caller.ts';
import { issue } from '../../fake/issues.ts';
import { begun } from '../../orchestrator/scene.ts';
import { apiOf, projectOf } from './api-scene.ts';

const address = '/api/v1/projects/test/commands';

describe('a command over the API', () => {
  it('is carried out by the orchestrator with its author, and answered', async () => {
    const stage = await begun();
    const { ask } = await apiOf([projectOf(stage)]);
    const { status, json } = await ask('POST', address, { kind: 'issue_steer', issue: '1', text: 'mind the step' });
    expect(status).toBe(200);
    expect(commandAnswer.strict().safeParse(json).error).toBeUndefined();
    expect(json.command).toMatchObject({
      status: 'done',
      code: 'message_delivered',
      author: { kind: 'person', name: 'me' },
    });
    expect(stage.runs[0]?.heard).toEqual(['mind the step']);
  });

  // @conforms api.23
  it('is carried out once when sent twice with one key, with the same answer', async () => {
    const stage = await begun();
    const { ask } = await apiOf([projectOf(stage)]);
    const body = { kind: 'issue_steer', issue: '1', text: 'once', key: 'mine' };
    const [first, second] = [await ask('POST', address, body), await ask('POST', address, body)];
    expect(second.json).toEqual(first.json);
    expect(stage.runs[0]?.heard).toEqual(['once']);
  });

  it('that is refused has a reason and a next step', async () => {
    const { ask } = await apiOf([projectOf(await begun())]);
    expect(await ask('POST', address, { kind: 'issue_handback', issue: '1' })).toMatchObject({
      status: 409,
      json: {
        error: {
          code: 'command_refused',
          message: expect.any(String),
          next_step: expect.any(String),
          details: { kind: 'issue_handback', code: 'not_taken_over' },
        },
      },
    });
  });

  // @conforms api.39
  it('is rejected with an unknown field or an empty edit', async () => {
    const stage = await begun();
    const { ask } = await apiOf([projectOf(stage)]);
    for (const body of [
      { kind: 'drain', issue: '1' },
      { kind: 'issue_edit', issue: '1', titel: 'x' },
      { kind: 'issue_edit', issue: '1', reason: 'only this' },
    ])
      expect((await ask('POST', address, body)).status, JSON.stringify(body)).toBe(422);
    expect(stage.orchestrator.read().paused).toBeNull();
  });

  // @conforms api.40
  it('that stops a run does not stop a newer run', async () => {
    const stage = await begun();
    const { ask } = await apiOf([projectOf(stage)]);
    expect(await ask('POST', address, { kind: 'issue_stop', issue: '1', run: 'one-before' })).toMatchObject({
      status: 409,
      json: { error: { code: 'command_refused', details: { code: 'run_already_ended' } } },
    });
    const runId = stage.orchestrator.read().running[0]?.runId;
    expect((await ask('POST', address, { kind: 'issue_stop', issue: '1', run: runId })).status).toBe(200);
  });

  // @conforms api.41
  it('can be sent to all projects at once if it is not about an issue', async () => {
    const [one, two] = [await begun(), await begun()];
    const { ask } = await apiOf([projectOf(one, 'one'), projectOf(two, 'two')]);
    const { status, json } = await ask('POST', '/api/v1/commands', { kind: 'pause', key: 'night' });
    expect(status).toBe(200);
    expect(commandsOfAll.safeParse(json).error).toBeUndefined();
    expect(json.commands).toMatchObject([
      { project: 'one', status: 'done', code: 'paused', data: { runs: 1 } },
      { project: 'two', status: 'done', code: 'paused', data: { runs: 1 } },
    ]);
    for (const stage of [one, two]) expect(stage.orchestrator.read().paused).toMatchObject({ kind: 'pause' });
    expect((await ask('POST', '/api/v1/commands', { kind: 'issue_stop', issue: '1' })).status).toBe(422);
  });

  it('returns 404 for an unknown project', async () => {
    const { ask } = await apiOf([projectOf(await begun())]);
    expect(await ask('POST', '/api/v1/projects/nowhere/commands', { kind: 'pause' })).toMatchObject({
      status: 404,
      json: { error: { code: 'project_not_found' } },
    });
  });

  // @conforms api.24
  it('from an agent may stop its own run and nothing else', async () => {
    const stage = await begun();
    const runId = stage.runs[0]?.request.runId ?? '';
    const agent: Caller = { scopes: new Set(['read', 'operate']), author: { kind: 'run', runId } };
    const { ask } = await apiOf([projectOf(stage)], agent);
    for (const body of [
      { kind: 'pause' },
      { kind: 'resume' },
      { kind: 'issue_retry', issue: '1' },
      { kind: 'issue_steer', issue: '1', text: 'do as I say' },
      { kind: 'question_answer', question: 'q', decision: 'accept' },
      { kind: 'issue_file', title: 'more work' },
    ])
      expect(await ask('POST', address, body), body.kind).toMatchObject({
        status: 409,
        json: { error: { details: { code: 'not_for_agents' } } },
      });
    expect((await ask('POST', address, { kind: 'issue_stop', issue: '1' })).status).toBe(200);
  });

  it('is refused for an issue of an external tracker, where it must be changed', async () => {
    const { ask } = await apiOf([projectOf(await begun())]);
    for (const body of [
      { kind: 'issue_move', issue: '1', to: 'done' },
      { kind: 'issue_comment', issue: '1', text: 'x' },
      { kind: 'issue_file', title: 'x' },
      { kind: 'issue_edit', issue: '1', title: 'x' },
    ]) {
      expect(await ask('POST', address, body)).toMatchObject({
        status: 409,
        json: { error: { details: { code: 'tracker_elsewhere' } } },
      });
    }
  });

  // @conforms api.30
  it('passes its note to the next run once, also after a hold', async () => {
    const stage = await begun({ issues: [issue({ id: '1' })] });
    const { ask } = await apiOf([projectOf(stage)]);
    await ask('POST', address, { kind: 'issue_stop', issue: '1' });
    stage.runs[0]?.end();
    await stage.clock.advance(100);
    const { json } = await ask('POST', address, { kind: 'issue_retry', issue: '1', note: 'use the other flag' });
    expect(json.command).toMatchObject({ status: 'done', code: 'retry_now' });
    await stage.clock.advance(2_000);
    expect(stage.runs[1]?.request.messages).toMatchObject([{ kind: 'note', body: 'use the other flag' }]);
  });

  it('that is refused takes its note back: no later run gets what its sender knows as not delivered', async () => {
    const stage = await begun({ issues: [issue({ id: '1' })] });
    const { ask } = await apiOf([projectOf(stage)]);
    expect(await ask('POST', address, { kind: 'issue_retry', issue: '1', note: 'x' })).toMatchObject({
      status: 409,
      json: { error: { details: { code: 'already_running' } } },
    });
    expect(await stage.store.messages.list({ project: stage.project, issueId: '1' }, 10)).toEqual([]);
  });
});
