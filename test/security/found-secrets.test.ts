import { expect, it } from 'vitest';
import { secretsAmong } from '../../src/daemon/agent-environment.ts';
import { childEnvironment, usualVariables } from '../../src/process/child-environment.ts';
import { resolveStoreUrl } from '../../src/workflow/resolve/resolve-store.ts';

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
  const secrets = secretsAmong({ ...proxies, LINEAR_API_KEY: 'lin_api_SUPERSECRET', PATH: '/bin' });
  expect(secrets).toEqual(['hunter2hunter2', 'p@ss%40word', 'lin_api_SUPERSECRET']);
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
