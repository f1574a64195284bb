// @module-tag full
// @module-tag one-way
import { expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/clock/system-clock.ts';
import { createAgent } from '../../src/daemon/adapters.ts';
import type { Surroundings } from '../../src/daemon/surroundings.ts';
import { childEnvironment, secretsAmong, usualVariables } from '../../src/process/child-environment.ts';
import { resolveStoreUrl } from '../../src/workflow/resolve/resolve-store.ts';
import { batonHere } from '../cli/baton-here.ts';
import { boardWorkflow } from '../cli/live-daemon.ts';
import { Place, startBaton } from '../cli/run-baton.ts';
import { settings } from '../fake/settings.ts';
import { until } from '../process/real-children.ts';

const proxies = {
  HTTPS_PROXY: 'http://ann:hunter2hunter2@proxy.example:3128/',
  http_proxy: 'ann:p@ss%40word@proxy.example:3128',
  ALL_PROXY: 'socks5://proxy.example:1080',
};

it('children get proxies without user and password, unless the user named the variable', () => {
  expect(childEnvironment({ from: proxies, allow: usualVariables, deny: [] })).toEqual({
    HTTPS_PROXY: 'http://proxy.example:3128/',
    http_proxy: 'proxy.example:3128',
    ALL_PROXY: 'socks5://proxy.example:1080',
  });
  const named = childEnvironment({ from: proxies, allow: [...usualVariables, 'HTTPS_PROXY'], deny: [] });
  expect(named.HTTPS_PROXY).toBe(proxies.HTTPS_PROXY);
});

it('the password of a proxy and the key of another service are secrets', () => {
  const named = { LINEAR_API_KEY: 'the-key-1', GITHUB_TOKEN: 'the-token-2', CLIENT_SECRET: 'the-secret-3' };
  const passwords = { PGPASSWORD: 'the-password-4', DB_PASSWORD_OLD: 'the-password-5' };
  const secrets = secretsAmong({ ...proxies, ...named, ...passwords, PATH: '/bin', KEYBOARD: 'us-intl-layout' });
  expect(secrets).toEqual(['hunter2hunter2', 'p@ss%40word', ...Object.values({ ...named, ...passwords })]);
});

it.each([
  ['postgres://baton:pw@db.example/baton', ['insecure_store']],
  ['postgresql://db.example/baton?sslmode=prefer', ['insecure_store']],
  ['postgres://db.example/baton?sslmode=verify-full', []],
  ['postgres://baton:pw@127.0.0.1:5432/baton', []],
  ['postgres:///baton?host=/run/postgresql', []],
  ['sqlite:/var/lib/baton.db', []],
])('an address of a store on another machine without TLS is a warning: %s', (url, codes) => {
  const found: unknown[] = [];
  const env = { BATON_DATABASE_URL: url };
  resolveStoreUrl(null, { env } as unknown as Parameters<typeof resolveStoreUrl>[1], ({ code }) => found.push(code));
  expect(found).toEqual(codes);
});

it('baton doctor and baton start warn about a store on another machine without TLS, and show no password', async () => {
  using place = new Place({ BATON_DATABASE_URL: 'postgres://baton:hunter2hunter2@database.invalid/baton' });
  place.write('WORKFLOW.md', boardWorkflow());
  const doctor = await batonHere(place, 'doctor', 'WORKFLOW.md', '--json');
  expect(JSON.parse(doctor.stdout).findings).toContainEqual(
    expect.objectContaining({ check: 'workflow_file', status: 'warning', code: 'insecure_store' }),
  );
  const daemon = startBaton(place, 'start');
  onTestFinished(() => void daemon.child.kill('SIGKILL'));
  await until(() => daemon.stderr().includes('"insecure_store"'), 'the daemon warns');
  daemon.child.kill('SIGTERM');
  await daemon.ended;
  for (const text of [doctor.stdout, doctor.stderr, daemon.stdout(), daemon.stderr()])
    expect(text).not.toContain('hunter2');
});

it('an agent that prints the key of a service that is not the tracker of its file is not quoted', async () => {
  const given = { LINEAR_API_KEY: 'lin_api_SUPERSECRET', HTTPS_PROXY: proxies.HTTPS_PROXY };
  const place = { env: given, homeDir: '/nowhere', agentProgram: () => new URL('file:///nowhere') };
  const deps = { clock: systemClock, containment: 'marker_sweep', daemonId: 'd', daemonEnv: given } as const;
  const [account] = settings().agent.accounts;
  const agent = createAgent(
    settings(),
    account ?? expect.fail('there is one'),
    deps,
    () => null,
    place as unknown as Surroundings,
  );
  expect(agent.secrets).toEqual(expect.arrayContaining(['lin_api_SUPERSECRET', 'hunter2hunter2']));
});
