import { describe, expect, it } from 'vitest';
import { batonHere } from './baton-here.ts';
import { baton, batonCommand, type Ended, leaveNoPlaces, Place, startProgram } from './run-baton.ts';

leaveNoPlaces();

describe('baton token', () => {
  it('creates, lists and revokes; the token is shown once and is in no file', async () => {
    using place = new Place();
    const made = await baton(place, 'token', 'create', '--scope', 'read', '--name', 'grafana', '--json');
    const { token, id } = JSON.parse(made.stdout);
    expect(token).toMatch(/^baton_read_/);
    expect(place.read('state/baton/tokens.json')).not.toContain(token);
    const listed = JSON.parse((await batonHere(place, 'token', 'list', '--json')).stdout);
    expect(listed.tokens).toEqual([{ id, name: 'grafana', scope: 'read', created_at: expect.any(String) }]);
    expect((await batonHere(place, 'token', 'list')).stdout).toMatch(new RegExp(`^${id} +read .*grafana$`, 'm'));
    expect(await batonHere(place, 'token', 'revoke', id)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(id),
    });
    const again = await batonHere(place, 'token', 'revoke', id, '--json');
    expect(again.code).toBe(1);
    expect(JSON.parse(again.stdout).error).toMatchObject({ details: { problem: 'unknown_token' } });
    expect(JSON.parse((await batonHere(place, 'token', 'list', '--json')).stdout)).toEqual({ tokens: [] });
    expect((await batonHere(place, 'token', 'list')).stdout).not.toContain(id);
  });

  it('requires a valid scope', async () => {
    using place = new Place();
    expect(await baton(place, 'token', 'create')).toMatchObject({ code: 2 });
    expect(await baton(place, 'token', 'create', '--scope', 'all')).toMatchObject({ code: 2 });
  });

  it('refuses agents', async () => {
    using place = new Place({ BATON_RUN_ID: 'r1' });
    expectRefused(await baton(place, 'token', 'create', '--scope', 'operate', '--json'));
  });

  // @conforms api.49
  it
    .runIf(process.platform === 'linux')
    .each([
      'env -u BATON_RUN_ID -u BATON_DAEMON_ID "$@"; exit $?',
      'setsid -w env -u BATON_RUN_ID -u BATON_DAEMON_ID "$@"; exit $?',
    ])('is not for agents that clear their environment: %s', async (script) => {
    for (const marker of ['BATON_RUN_ID', 'BATON_DAEMON_ID']) {
      using place = new Place({ [marker]: 'x1' });
      const words = ['sh', '-c', batonCommand('token', 'create', '--scope', 'operate', '--json')];
      expectRefused(await startProgram(place, 'sh', ['-c', script, 'sh', ...words]).ended);
    }
  });
});

function expectRefused({ code, stdout }: Ended): void {
  expect(code).toBe(1);
  expect(JSON.parse(stdout)).toEqual({
    error: expect.objectContaining({ code: 'usage_error', details: { problem: 'agent_cannot_create_token' } }),
  });
}
