import { describe, expect, it } from 'vitest';
import type { Finding } from '../../../src/core/finding.ts';
import type { TrackerSettings } from '../../../src/core/settings.ts';
import { Secret } from '../../../src/core/text/secret.ts';
import { checkLinear } from '../../../src/tracker/linear/doctor/check-linear.ts';
import { type LinearScene, linearScene } from './linear-scene.ts';

function check(scene: LinearScene, changes: Partial<TrackerSettings> = {}): Promise<readonly Finding[]> {
  return checkLinear({ ...scene.settings, reviewStates: ['In Review'], ...changes }, scene);
}

/** The line of a check that passes. */
function line(about: string, told: string, details: Finding['details'] = {}): Finding {
  const message: string = expect.stringContaining(told);
  return { check: about, status: 'ok', code: 'ok', message, nextStep: null, details };
}

describe('the doctor on Linear', () => {
  it('passes with one request when the key, the project and its states exist', async () => {
    const scene = linearScene();
    expect(await check(scene)).toEqual([
      line('linear_key', 'Someone', { user: 'Someone' }),
      line('linear_project', 'baton'),
      line('linear_states', 'In Review'),
    ]);
    expect(scene.linear.counts()).toEqual({ BatonDoctor: 1 });
    expect(scene.sent).toMatchObject([{ job: 'doctor', cause: 'person' }]);
    expect(scene.linear.complaints).toEqual([]);
  });

  it('reports a refused key without showing it', async () => {
    const scene = linearScene({ api_key: new Secret('lin_api_wrong_canary') });
    const findings = await check(scene);
    expect(findings).toMatchObject([{ check: 'linear', status: 'failed', code: 'tracker_auth' }]);
    expect(JSON.stringify(findings)).not.toContain('canary');
  });

  it('reports that Linear does not answer', async () => {
    const scene = linearScene();
    scene.linear.faults.down = true;
    expect(await check(scene)).toMatchObject([
      { check: 'linear', status: 'failed', code: expect.stringMatching(/^tracker_/) },
    ]);
  });

  it.each([
    'baton-rewrite-1a2b3c4d5e6f',
    'https://linear.app/acme/project/baton-rewrite-1a2b3c4d5e6f/overview',
    'https://linear.app/acme/project/baton-rewrite-1a2b3c4d5e6f',
  ])('suggests the intended project for %s', async (slug) => {
    const scene = linearScene({ project_slug: slug });
    scene.linear.addProject({ slugId: '1a2b3c4d5e6f', name: 'Baton rewrite' });
    expect(await check(scene)).toMatchObject([
      { check: 'linear_key', status: 'ok' },
      {
        check: 'linear_project',
        status: 'failed',
        code: 'unknown_project',
        message: expect.stringContaining(slug),
        nextStep: expect.stringContaining('tracker.provider.project_slug: 1a2b3c4d5e6f'),
        details: { near: ['1a2b3c4d5e6f'] },
      },
    ]);
    expect(scene.linear.counts()).toEqual({ BatonDoctor: 1 });
  });

  it('names similar projects when the project does not exist', async () => {
    const scene = linearScene({ project_slug: 'Baton Rewrit' });
    scene.linear.addProject({ slugId: '1a2b3c4d5e6f', name: 'Baton rewrite' });
    scene.linear.addProject({ slugId: '9f8e7d6c5b4a', name: 'Something else' });
    const [, project] = await check(scene);
    expect(project).toMatchObject({
      status: 'failed',
      code: 'unknown_project',
      message: expect.stringContaining('1a2b3c4d5e6f (Baton rewrite)'),
      nextStep: expect.stringContaining('tracker.provider.project_slug: 1a2b3c4d5e6f'),
      details: { near: ['1a2b3c4d5e6f', 'baton'] },
    });
    expect(project?.message).not.toContain('Something else');
    expect(scene.linear.counts()).toEqual({ BatonDoctor: 1, BatonProjects: 1 });
  });

  it('suggests nothing when nothing is similar', async () => {
    const scene = linearScene({ project_slug: 'zzzzzzzzzzzz' });
    const [, project] = await check(scene);
    expect(project).toMatchObject({ status: 'failed', code: 'unknown_project', details: { near: [] } });
  });

  it('names states that no team has, with similar ones', async () => {
    const scene = linearScene();
    const [, , states] = await check(scene, {
      activeStates: ['todo', 'In Progres'],
      terminalStates: ['Done', 'Shipped'],
    });
    expect(states).toMatchObject({
      status: 'failed',
      code: 'unknown_states',
      nextStep: expect.stringContaining('In Progress'),
      details: {
        unknown: [
          { key: 'tracker.active_states', state: 'In Progres', near: ['In Progress'] },
          { key: 'tracker.terminal_states', state: 'Shipped', near: [] },
        ],
      },
    });
    expect(states?.message).toMatch(/tracker\.active_states .*"In Progres".*tracker\.terminal_states .*"Shipped"/);
  });

  it("names states of Baton's own moves that a team lacks", async () => {
    const scene = linearScene();
    const states = { todo: 'Todo', inProgress: null, review: 'in review', blocked: 'Blocked', done: null };
    const lacks = async () => (await check(scene, { states }))[2];
    const blocked = { key: 'tracker.states.blocked', state: 'Blocked' };
    expect(await lacks()).toMatchObject({ code: 'unknown_states', details: { unknown: [blocked] } });
    scene.linear.addTeam({
      key: 'OPS',
      states: [
        { name: 'Todo', type: 'unstarted' },
        { name: 'Blocked', type: 'started' },
      ],
    });
    expect(await lacks()).toMatchObject({
      code: 'unknown_states',
      details: { unknown: [{ key: 'tracker.states.review', state: 'in review' }, blocked] },
    });
  });

  it('accepts the usual lists if one spelling of each state exists', async () => {
    const scene = linearScene();
    const { linear } = scene;
    for (const state of linear.records.states.values()) {
      if (state.name === 'Duplicate' || state.name === 'In Review') linear.records.states.delete(state.id);
    }
    expect((await check(scene))[2]).toMatchObject({ status: 'ok' });
    for (const state of linear.records.states.values()) {
      if (state.name === 'Todo' || state.name === 'In Progress') linear.records.states.delete(state.id);
    }
    expect((await check(scene))[2]).toMatchObject({
      status: 'failed',
      code: 'unknown_states',
      details: {
        unknown: ['Todo', 'In Progress'].map((state) =>
          expect.objectContaining({ key: 'tracker.active_states', state }),
        ),
      },
    });
  });

  it('shows control characters in texts of Linear by marks', async () => {
    const scene = linearScene();
    const [owner] = scene.linear.records.users.values();
    if (owner !== undefined) owner.name = 'Some\u001b[31mone\u202e';
    const [key] = await check(scene);
    const user = 'Some␛[31mone⟦U+202E⟧';
    expect(key).toMatchObject({ message: expect.stringContaining(user), details: { user } });
    expect(key?.message).not.toMatch(/\p{Cc}|\u202e/u);
  });
});
