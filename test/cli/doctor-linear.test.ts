import { describe, expect, it } from 'vitest';
import { checkLinear } from '../../src/cli/doctor/check-linear.ts';
import type { Finding } from '../../src/cli/doctor/finding.ts';
import { Secret } from '../../src/core/secret.ts';
import type { TrackerSettings } from '../../src/core/settings.ts';
import { type LinearScene, linearScene } from '../tracker/linear/linear-scene.ts';

function check(scene: LinearScene, changes: Partial<TrackerSettings> = {}): Promise<readonly Finding[]> {
  return checkLinear({ ...scene.settings, reviewStates: ['In Review'], ...changes }, scene);
}

describe('the doctor on Linear', () => {
  it('is content with one request when the key, the project and its states are there', async () => {
    const scene = linearScene();
    expect(await check(scene)).toEqual([
      { name: 'linear key', ok: true, detail: "Linear knows it as Someone's", mend: null },
      { name: 'linear project', ok: true, detail: 'baton (baton)', mend: null },
      { name: 'linear states', ok: true, detail: expect.stringContaining('In Review'), mend: null },
    ]);
    expect(scene.linear.counts()).toEqual({ BatonDoctor: 1 });
    expect(scene.sent).toMatchObject([{ job: 'doctor', cause: 'person' }]);
    expect(scene.linear.complaints).toEqual([]);
  });

  it('says that the key is refused, without telling it', async () => {
    const scene = linearScene({ api_key: new Secret('lin_api_wrong_canary') });
    const findings = await check(scene);
    expect(findings).toMatchObject([
      { name: 'linear', ok: false, mend: expect.stringContaining('key of the tracker') },
    ]);
    expect(JSON.stringify(findings)).not.toContain('canary');
  });

  it('says when Linear does not answer', async () => {
    const scene = linearScene();
    scene.linear.faults.down = true;
    expect(await check(scene)).toMatchObject([{ name: 'linear', ok: false }]);
  });

  it.each([
    'baton-rewrite-1a2b3c4d5e6f',
    'https://linear.app/acme/project/baton-rewrite-1a2b3c4d5e6f/overview',
    'https://linear.app/acme/project/baton-rewrite-1a2b3c4d5e6f',
  ])('knows which project is meant by %s', async (slug) => {
    const scene = linearScene({ project_slug: slug });
    scene.linear.addProject({ slugId: '1a2b3c4d5e6f', name: 'Baton rewrite' });
    expect(await check(scene)).toMatchObject([
      { name: 'linear key', ok: true },
      {
        name: 'linear project',
        ok: false,
        detail: expect.stringContaining(slug),
        mend: 'set tracker.provider.project_slug: 1a2b3c4d5e6f',
      },
    ]);
    expect(scene.linear.counts()).toEqual({ BatonDoctor: 1 });
  });

  it('names the near ones when there is no such project', async () => {
    const scene = linearScene({ project_slug: 'Baton Rewrit' });
    scene.linear.addProject({ slugId: '1a2b3c4d5e6f', name: 'Baton rewrite' });
    scene.linear.addProject({ slugId: '9f8e7d6c5b4a', name: 'Something else' });
    const [, project] = await check(scene);
    expect(project).toMatchObject({
      ok: false,
      detail: expect.stringContaining('near: 1a2b3c4d5e6f (Baton rewrite)'),
      mend: 'set tracker.provider.project_slug: 1a2b3c4d5e6f',
    });
    expect(project?.detail).not.toContain('Something else');
    expect(scene.linear.counts()).toEqual({ BatonDoctor: 1, BatonProjects: 1 });
  });

  it('makes nothing up when nothing is near', async () => {
    const scene = linearScene({ project_slug: 'zzzzzzzzzzzz' });
    const [, project] = await check(scene);
    expect(project).toMatchObject({ ok: false, mend: "take the end of the project's address in Linear" });
  });

  it('names states that no team has, with those that may be meant', async () => {
    const scene = linearScene();
    const [, , states] = await check(scene, {
      activeStates: ['todo', 'In Progres'],
      terminalStates: ['Done', 'Shipped'],
    });
    expect(states).toMatchObject({ ok: false, mend: expect.stringContaining('In Progress') });
    expect(states?.detail).toBe(
      'tracker.active_states names "In Progres", which no team of the project has, near: In Progress; ' +
        'tracker.terminal_states names "Shipped", which no team of the project has',
    );
  });

  it('does not mind the spellings of the usual lists, as long as one of each is there', async () => {
    const scene = linearScene();
    const { linear } = scene;
    for (const state of linear.records.states.values()) {
      if (state.name === 'Duplicate' || state.name === 'In Review') linear.records.states.delete(state.id);
    }
    expect((await check(scene))[2]).toMatchObject({ ok: true });
    for (const state of linear.records.states.values()) {
      if (state.name === 'Todo' || state.name === 'In Progress') linear.records.states.delete(state.id);
    }
    expect((await check(scene))[2]).toMatchObject({ ok: false, detail: expect.stringContaining('active_states') });
  });

  it('shows nothing of Linear that could steer a terminal', async () => {
    const scene = linearScene();
    const [user] = scene.linear.records.users.values();
    if (user !== undefined) user.name = 'Some\u001b[31mone\u202e';
    expect((await check(scene))[0]?.detail).toBe("Linear knows it as Someone 's");
  });
});
