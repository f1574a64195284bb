import { describe, expect, it } from 'vitest';
import { baton, batonCommand, leaveNoPlaces, Place, startProgram } from './run-baton.ts';

leaveNoPlaces();

describe('baton token', () => {
  it('makes, lists and revokes; the token is shown once and is in no file', async () => {
    using place = new Place();
    const made = await baton(place, 'token', 'create', '--scope', 'read', '--name', 'grafana', '--json');
    const { token, id } = JSON.parse(made.stdout);
    expect(token).toMatch(/^baton_read_/);
    expect(place.read('state/baton/tokens.json')).not.toContain(token);
    const listed = JSON.parse((await baton(place, 'token', 'list', '--json')).stdout);
    expect(listed.tokens).toEqual([{ id, name: 'grafana', scope: 'read', created_at: expect.any(String) }]);
    expect((await baton(place, 'token', 'revoke', id)).stdout).toContain('refused from now on');
    expect(await baton(place, 'token', 'revoke', id)).toMatchObject({ code: 1 });
    expect((await baton(place, 'token', 'list')).stdout).toBe('There are no tokens.\n');
  });

  it('needs a scope that there is', async () => {
    using place = new Place();
    expect(await baton(place, 'token', 'create')).toMatchObject({ code: 2 });
    expect(await baton(place, 'token', 'create', '--scope', 'all')).toMatchObject({ code: 2 });
  });

  it('is not for agents', async () => {
    using place = new Place({ BATON_RUN_ID: 'r1' });
    const { code, stderr } = await baton(place, 'token', 'create', '--scope', 'operate');
    expect(code).toBe(1);
    expect(stderr).toContain('An agent cannot make a token');
  });

  it
    .runIf(process.platform === 'linux')
    .each([
      'env -u BATON_RUN_ID -u BATON_DAEMON_ID "$@"; exit $?',
      'setsid -w env -u BATON_RUN_ID -u BATON_DAEMON_ID "$@"; exit $?',
    ])('is not for agents that clear their environment: %s', async (script) => {
    for (const marker of ['BATON_RUN_ID', 'BATON_DAEMON_ID']) {
      using place = new Place({ [marker]: 'x1' });
      const words = ['sh', '-c', batonCommand('token', 'create', '--scope', 'operate')];
      const { code, stdout, stderr } = await startProgram(place, 'sh', ['-c', script, 'sh', ...words]).ended;
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toContain('An agent cannot make a token');
    }
  });
});
